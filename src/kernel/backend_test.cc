// Backends that misbehave, each as a small script: one outcome is lost and nothing else.
#include "kernel/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/text.h"
#include "kernel/bundle.h"
#include "kernel/sandbox.h"

namespace hyperloom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kHandshake = R"(#!/bin/sh
[ "$1" = --capabilities ] && { echo '{"protocol_versions": [1], "lanes": ["tune"]}'; exit 0; }
)";

// A backend that answers the handshake; `body` runs with B (bundle), O (out), task (dict), event(),
// result(), claim().
std::string python(const std::string& body) {
  return kHandshake + R"(exec python3 - "$@" <<'END_OF_PYTHON'
import json, os, socket, sys, time
B, O = sys.argv[1], sys.argv[2]
task = json.load(open(B + '/task.json'))
def event(text):
    print(json.dumps({'seq': 0, 't': time.time(), 'kind': 'progress', 'message': text}), flush=True)
def claim(value, id='c1', **more):
    return dict({'id': id, 'kind': 'build', 'value': value, 'expected_log': 0.1, 'why': 'because'}, **more)
def result(candidates, status='candidates', **more):
    body = dict({'protocol': 1, 'task_id': task['task_id'], 'nonce': task['nonce'], 'status': status, 'candidates': candidates}, **more)
    with open(O + '/part', 'w') as f: json.dump(body, f)
    os.rename(O + '/part', O + '/result.json')
)" + body +
         "\nEND_OF_PYTHON\n";
}

// A port of ours that accepts: what the network wall must keep away.
struct Listening {
  Listening() : fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd, 4), 0);
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
  }
  ~Listening() { close(fd); }
  int fd, port = 0;
};

class BackendTest : public testing::Test {
 protected:
  BackendTest() {
    pack_.builds = {recipe("plain", "stock"), recipe("fast", "tune"), recipe("other", "tune"),
                    recipe("broken", "tune")};
    task_.task_id = "K1";
    task_.nonce = "n0nce";
    task_.lane = "tune";
    task_.pack = &pack_;
    task_.machine.cores = 2;
    task_.current_build = "plain";
    task_.failed_builds = {"broken"};
    task_.deadline_s = 30;
  }

  static BuildRecipe recipe(const std::string& id, const std::string& role) {
    BuildRecipe made;
    made.id = id;
    made.role = role;
    return made;
  }

  BackendOutcome run_script(const std::string& text) {
    const fs::path script = dir_.path() / "backend.py";
    write_file(script, text);
    make_executable(script);
    return run_backend({script.string()}, task_, dir_.path() / "work", stop_, limits_);
  }
  BackendOutcome run_python(const std::string& body) { return run_script(python(body)); }
  bool walled() const { return limits_.sandbox && sandbox_problem().empty(); }

  TempDir dir_;
  Pack pack_;
  KernelTask task_;
  BackendLimits limits_;
  const volatile bool* stop_ = nullptr;
};

TEST_F(BackendTest, takes_claims_and_names_those_that_break_the_contract) {
  const BackendOutcome got = run_python(R"(
event('working')
result([claim('fast'), claim('fast', 'c2'), claim('nowhere', 'c3'), claim('plain', 'c4'), claim('broken', 'c5'),
        claim('other', 'c1'), claim('other', 'c6', kind='patch'), claim('other', 'c7', files=[{'path': '../x'}]), 7,
        claim('other', 'c8', expected_log=99), claim('other', 'c9')])
)");
  EXPECT_EQ(got.status, "candidates") << got.reason;
  ASSERT_EQ(got.claims.size(), 2u);
  EXPECT_EQ(got.claims[0].value, "fast");
  EXPECT_DOUBLE_EQ(got.claims[0].expected_log, 0.1);
  EXPECT_EQ(got.claims[1].id, "c9");
  EXPECT_EQ(got.rejected.size(), 9u);
  EXPECT_THAT(join(got.rejected, "\n"),
              HasSubstr("c3: value: `nowhere` is not a recipe of the bundle"));
  EXPECT_THAT(join(got.rejected, "\n"), HasSubstr("c5: value: broken is known not to work here"));
  EXPECT_GT(got.seconds, 0);
}

TEST_F(BackendTest, gets_a_bundle_that_is_hashed_and_read_only) {
  const BackendOutcome got = run_python(R"(
import hashlib
files = json.load(open(B + '/manifest.json'))['files']
ok = all(hashlib.sha256(open(B + '/' + n, 'rb').read()).hexdigest() == h for n, h in files.items())
modes = [os.stat(B + '/' + n).st_mode & 0o222 for n in list(files) + ['manifest.json', '.']]
recipes = json.load(open(B + '/recipes.json'))
near = 0 < task['deadline'] - time.time() <= 30
result([], 'no_candidate', reason=json.dumps([sorted(files), ok, any(modes), [r['id'] for r in recipes['recipes']],
       recipes['current']['id'], near, task['limits']['candidates']]))
)");
  EXPECT_EQ(got.status, "no_candidate");
  EXPECT_THAT(
      got.reason,
      HasSubstr(
          R"([["hardware.json", "profile/kernels.json", "recipes.json", "task.json", "toolchain.json"], true, false, ["fast", "other", "broken"], "plain", true, 64])"));
}

TEST_F(BackendTest, leaves_out_recipes_that_this_processor_cannot_run) {
  pack_.builds[1].when = "machine.avx512f == 1";
  pack_.builds[2].when = "model.layers > 3";  // only the session knows
  task_.machine.cpu_flags = {"avx2"};
  std::vector<std::string> ids;
  for (const BuildRecipe& offered : offered_recipes(task_)) ids.push_back(offered.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"other", "broken"}));
}

TEST_F(BackendTest, silence_is_a_stall) {
  limits_.silence_s = 1.5;
  const BackendOutcome got =
      run_script(kHandshake + R"(echo '{"kind": "log", "message": "thinking hard"}'; sleep 60)");
  EXPECT_EQ(got.status, "stalled");
  EXPECT_THAT(got.reason, HasSubstr("no event"));
  EXPECT_LT(got.seconds, 25);
}

TEST_F(BackendTest, chatter_that_is_no_event_does_not_count_as_life) {
  limits_.silence_s = 0.6;
  const BackendOutcome got = run_script(kHandshake + "while :; do echo '{}'; sleep 0.05; done");
  EXPECT_EQ(got.status, "stalled");
}

TEST_F(BackendTest, deadline_ends_a_chatterer_but_a_finished_result_counts) {
  task_.deadline_s = 2;
  limits_.grace_s = 0.1;
  const std::string endless = R"(while :; do echo '{"kind": "log"}'; sleep 0.05; done)";
  const BackendOutcome none = run_script(kHandshake + endless);
  EXPECT_EQ(none.status, "stalled");
  EXPECT_THAT(none.reason, HasSubstr("deadline"));
  const BackendOutcome some = run_script(kHandshake + R"(cat >"$2/part" <<'END'
{"protocol": 1, "task_id": "K1", "nonce": "n0nce", "status": "candidates", "candidates": [{"id": "c", "kind": "build", "value": "fast"}]}
END
mv "$2/part" "$2/result.json"
)" + endless);
  EXPECT_EQ(some.status, "candidates") << some.reason;
  EXPECT_THAT(some.reason, HasSubstr("stopped at its deadline"));
}

TEST_F(BackendTest, crash_says_how) {
  const BackendOutcome killed = run_python("result([claim('fast')])\nos.kill(os.getpid(), 11)");
  EXPECT_EQ(killed.status, "crashed");
  EXPECT_THAT(killed.claims, IsEmpty());
  const BackendOutcome raised = run_python("raise RuntimeError('out of ideas')");
  EXPECT_EQ(raised.status, "crashed");
  EXPECT_THAT(raised.reason, HasSubstr("out of ideas"));
}

TEST_F(BackendTest, exit_codes_of_the_contract) {
  EXPECT_EQ(run_python("sys.exit(2)").status, "invalid_task");
  EXPECT_EQ(run_python("sys.exit(3)").status, "infra_error");
  const BackendOutcome small = run_python("sys.exit(4)");
  EXPECT_EQ(small.status, "infra_error");
  EXPECT_THAT(small.reason, HasSubstr("budget too small"));
}

TEST_F(BackendTest, rubbish_wrong_nonce_and_nothing_are_bad_output) {
  EXPECT_EQ(run_python("open(O + '/result.json', 'wb').write(bytes(range(256)))").status,
            "bad_output");
  EXPECT_EQ(run_python("open(O + '/result.json', 'w').write('[' * 200000)").status, "bad_output");
  const BackendOutcome nonce =
      run_python("task['nonce'] = 'of yesterday'\nresult([claim('fast')])");
  EXPECT_EQ(nonce.status, "bad_output");
  EXPECT_THAT(nonce.reason, HasSubstr("nonce"));
  const BackendOutcome nothing = run_python("event('done')");
  EXPECT_EQ(nothing.status, "bad_output");
  EXPECT_THAT(nothing.reason, HasSubstr("there is none"));
  EXPECT_EQ(run_python("result([claim('nowhere')])").status, "bad_output");
}

TEST_F(BackendTest, output_that_is_no_event_stream_is_ended) {
  const BackendOutcome got = run_python("while True: print('loading' * 9, flush=True)");
  EXPECT_EQ(got.status, "bad_output");
  EXPECT_THAT(got.reason, HasSubstr("not JSON lines"));
}

TEST_F(BackendTest, links_out_are_not_followed) {
  write_file(dir_.path() / "secret", "{}");
  const std::string secret = (dir_.path() / "secret").string();
  for (const std::string& body :
       {"os.symlink('" + secret + "', O + '/result.json')",
        std::string("result([claim('fast')])\nos.symlink('/etc/passwd', O + '/notes')"),
        std::string("os.mkfifo(O + '/result.json')"),
        std::string("result([claim('fast')])\nos.link(O + '/result.json', O + '/again')")}) {
    const BackendOutcome got = run_python(body);
    EXPECT_EQ(got.status, "bad_output") << body << got.reason;
    EXPECT_THAT(got.claims, IsEmpty());
  }
}

TEST_F(BackendTest, giant_output_is_cut_short) {
  limits_.output_bytes = 2 << 20;
  EXPECT_EQ(run_python("while True: event('x' * 5000)").status, "bad_output");
  const BackendOutcome file = run_python(
      "result([claim('fast')])\nfor i in range(3): open(O + '/f%d' % i, 'wb').write(b'x' * (1 << "
      "20))");
  EXPECT_EQ(file.status, "bad_output");
  EXPECT_THAT(file.reason, HasSubstr("larger than"));
  const BackendOutcome result = run_python("result([claim('fast', why='x' * (1 << 20))])");
  EXPECT_EQ(result.status, "bad_output");
  limits_.entries = 50;
  const BackendOutcome many =
      run_python("result([claim('fast')])\nfor i in range(60): os.mkdir(O + '/d%d' % i)");
  EXPECT_THAT(many.reason, HasSubstr("more than 50"));
}

TEST_F(BackendTest, memory_is_limited) {
#if !defined(__SANITIZE_ADDRESS__)
  limits_.memory_bytes = 1ull << 30;
  const BackendOutcome got = run_python("x = bytearray(2 << 30)\nresult([claim('fast')])");
  EXPECT_EQ(got.status, "crashed");
  EXPECT_THAT(got.reason, HasSubstr("MemoryError"));
#endif
}

TEST_F(BackendTest, sandbox_keeps_it_from_the_system_and_the_network) {
  if (!walled()) GTEST_SKIP() << sandbox_problem();
  const fs::path ours = dir_.path() / "ours";
  write_file(ours, "untouched");
  const Listening door;
  const std::string facts =
      "PORT, PARENT = " + std::to_string(door.port) + ", " + std::to_string(getpid());
  const BackendOutcome got =
      run_python(facts + R"(
tried = []
def attempt(name, act):
    try: act(); tried.append(name)
    except Exception: pass
attempt('', lambda: open(')" +
                 ours.string() + R"(', 'w').write('changed'))     # may work, in a /tmp of its own
attempt('bundle', lambda: open(B + '/task.json', 'w').write('changed'))
attempt('bundle-new', lambda: open(B + '/new', 'w').write('x'))
attempt('etc', lambda: open('/etc/hyperloom-was-here', 'w').write('x'))
attempt('', lambda: open(O + '/../up', 'w').write('x'))
attempt('lo', lambda: socket.create_connection(('127.0.0.1', PORT), 1))
attempt('net', lambda: socket.create_connection(('192.0.2.1', 80), 1))
attempt('parent', lambda: os.kill(PARENT, 0))
attempt('remount', lambda: os.system('mount -o remount,rw /') == 0 or 1 / 0)
result([], 'no_candidate', reason='tried:' + ' '.join(filter(None, tried)))
)");
  EXPECT_EQ(got.status, "no_candidate") << got.reason;
  EXPECT_EQ(got.reason, "tried:");
  EXPECT_EQ(read_file(ours), "untouched");
  EXPECT_FALSE(fs::exists(dir_.path() / "work" / "up"));
}

TEST_F(BackendTest, without_a_sandbox_it_says_so_and_damage_is_noticed) {
  limits_.sandbox = false;
  const BackendOutcome good = run_python("result([claim('fast')])");
  EXPECT_EQ(good.status, "candidates");
  EXPECT_THAT(good.reason, HasSubstr("no sandbox"));
  const BackendOutcome liar = run_python(
      "os.chmod(B, 0o755); os.chmod(B + '/task.json', 0o644)\n"
      "open(B + '/task.json', 'a').write(' ')\nresult([claim('fast')])");
  EXPECT_EQ(liar.status, "bad_output");
  EXPECT_THAT(liar.reason, HasSubstr("task.json differs"));
  const BackendOutcome swapped = run_python(
      "os.rename(O, O + '2'); os.symlink(O + '2', O)\nO += '2'\nresult([claim('fast')])");
  EXPECT_EQ(swapped.status, "bad_output");
}

TEST_F(BackendTest, stale_output_is_not_taken_for_new) {
  EXPECT_EQ(
      run_python("result([claim('fast')])\nos.mkdir(O + '/deep'); os.chmod(O + '/deep', 0)").status,
      "candidates");
  EXPECT_EQ(run_python("event('nothing this time')").status, "bad_output");
}

TEST_F(BackendTest, handshake_decides_before_the_task_is_shown) {
  const auto answers = [this](const std::string& answer) {
    return run_script("#!/bin/sh\n[ \"$1\" = --capabilities ] || exit 0\n" + answer + "\n");
  };
  const BackendOutcome newer =
      answers(R"(echo '{"protocol_versions": ["2.0", 3], "lanes": ["tune"]}')");
  EXPECT_EQ(newer.status, "invalid_task");
  EXPECT_THAT(newer.reason, HasSubstr("speaks 2.0, 3, we speak 1"));
  EXPECT_EQ(answers("echo rubbish").status, "invalid_task");
  EXPECT_EQ(answers(R"(echo '{"protocol_versions": [1], "lanes": ["fuse"]}')").status,
            "invalid_task");
  EXPECT_EQ(
      answers(R"(echo '{"protocol_versions": ["1.7"], "lanes": ["tune"], "min_budget_s": 3600}')")
          .status,
      "infra_error");
  EXPECT_EQ(answers("echo no python >&2; exit 1").status, "crashed");
  limits_.handshake_s = 0.4;
  EXPECT_EQ(answers("sleep 60").status, "stalled");
  EXPECT_FALSE(fs::exists(dir_.path() / "work" / "bundle"));
}

TEST_F(BackendTest, missing_program_and_a_stop_are_infrastructure) {
  EXPECT_EQ(run_backend({"/nowhere/backend"}, task_, dir_.path() / "work").status, "infra_error");
  const volatile bool stop = true;
  stop_ = &stop;
  EXPECT_EQ(run_python("time.sleep(60)").status, "infra_error");
}

}  // namespace
}  // namespace hyperloom
