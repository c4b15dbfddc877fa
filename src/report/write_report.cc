#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "os/child.h"
#include "report/report.h"

namespace hyperloom {
namespace {

constexpr double kBundleLimit_s = 300;

// Sorted, without owners and times, so that the same session gives the same bytes.
fs::path make_bundle(const fs::path& folder) {
  const fs::path bundle = folder / "bundle.tar.gz";
  const fs::path part = folder / "bundle.tar.gz.part";
  ChildSpec spec;
  spec.argv = {"tar",       "--create",        "--sort=name", "--owner=0",
               "--group=0", "--numeric-owner", "--mtime=@0",  "--use-compress-program=gzip -n",
               "--file",    part.string(),     "--directory", folder.string(),
               "--"};
  for (const char* name :
       {"blobs", "journal.hlj", "launch.sh", "report.html", "report.md", "summary.json"}) {
    if (fs::exists(folder / name)) spec.argv.push_back(name);
  }
  const RunResult result = run_child(spec, kBundleLimit_s);
  const bool file_grew =
      result.status.signal == 0 && result.status.code == 1;  // the journal of a live session
  if (result.timed_out || !(result.status.ok() || file_grew)) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw internal_error(
        "cannot pack " + bundle.string() + ": tar ended with " +
            (result.timed_out ? std::string("no end in sight") : result.status.text()) + ": " +
            trim(result.output),
        "the report itself is complete; check that GNU tar and gzip are installed and that the "
        "disk has room");
  }
  fs::rename(part, bundle);
  return bundle;
}

}  // namespace

ReportFiles write_report(const ReportInputs& inputs) {
  const fs::path& folder = inputs.session_dir;
  make_folders(folder);
  ReportFiles files;
  files.launch = folder / "launch.sh";
  files.html = folder / "report.html";
  files.markdown = folder / "report.md";
  files.summary = folder / "summary.json";
  write_file(files.launch, render_launch_script(inputs));
  make_executable(files.launch);
  write_file(files.html, render_html(inputs));
  write_file(files.markdown, render_markdown(inputs));
  // Engine output may hold bytes that are no UTF-8: replaced, for a summary must never fail.
  write_file(files.summary,
             make_summary(inputs).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  try {
    files.bundle = make_bundle(folder);
  } catch (const Error& error) {  // the report is whole without it
    files.notice = std::string("no audit bundle: ") + error.what() +
                   (error.mend().empty() ? "" : " (" + error.mend() + ")");
  }
  return files;
}

}  // namespace hyperloom
