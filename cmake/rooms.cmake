# room(NAME libs...): one static library from src/NAME/*.cc that links every earlier room, and one
# test program from src/NAME/*_test.cc, registered test by test.
set(HYPERLOOM_ROOMS "" CACHE INTERNAL "")
function(room name)
  file(GLOB sources CONFIGURE_DEPENDS src/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/main\\.cc$")
  file(GLOB tests CONFIGURE_DEPENDS src/${name}/*_test.cc)
  if(NOT sources)
    return()
  endif()
  add_library(hl_${name} STATIC ${sources})
  target_include_directories(hl_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(hl_${name} PUBLIC ${HYPERLOOM_ROOMS} ${ARGN} Threads::Threads)
  # Newest first, for the static linker's single pass.
  set(HYPERLOOM_ROOMS hl_${name} ${HYPERLOOM_ROOMS} CACHE INTERNAL "")
  if(tests)
    add_executable(test_${name} ${tests})
    target_link_libraries(test_${name} PRIVATE hl_${name} GTest::gtest GTest::gmock GTest::gtest_main)
    target_compile_definitions(test_${name} PRIVATE HYPERLOOM_CASES="${CMAKE_SOURCE_DIR}/tests/cases"
      HYPERLOOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60)
  endif()
endfunction()
