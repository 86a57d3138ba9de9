# What `make dist` puts into a tarball and `make package` into a Debian package: the component `runtime`. What other parts
# of the tree install is in neither.

install(TARGETS berth RUNTIME DESTINATION bin COMPONENT runtime)
# By this name the program is kube-scheduler. Not in bin: there it would take the place of the real one.
install(CODE [[
  set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/berth")
  file(MAKE_DIRECTORY "${folder}")
  file(CREATE_LINK ../../bin/berth "${folder}/kube-scheduler" SYMBOLIC)
]] COMPONENT runtime)
# Manual pages and completion scripts are made by the program itself, from the tables that parse its command line.
install(CODE "set(program \"${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:berth>\")
  set(collect_licenses \"${CMAKE_SOURCE_DIR}/scripts/collect-licenses;${CMAKE_BINARY_DIR}\")" COMPONENT runtime)
install(CODE [[
  set(share "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share")
  execute_process(COMMAND ${program} man --folder "${share}/man/man1" COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell_and_file bash:bash-completion/completions/berth zsh:zsh/vendor-completions/_berth
                         fish:fish/vendor_completions.d/berth.fish)
    string(REPLACE ":" ";" shell_and_file "${shell_and_file}")
    list(GET shell_and_file 0 shell)
    list(GET shell_and_file 1 file)
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY "${share}/${folder}")
    execute_process(COMMAND ${program} completion ${shell} OUTPUT_FILE "${share}/${file}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND ${collect_licenses} "${share}/doc/berth/licenses" COMMAND_ERROR_IS_FATAL ANY)
]] COMPONENT runtime)
install(FILES LICENSE DESTINATION share/doc/berth RENAME copyright COMPONENT runtime)
install(FILES docs/deploy.md docs/configuration.md DESTINATION share/doc/berth COMPONENT runtime)
install(DIRECTORY deploy/static-pod deploy/second-scheduler DESTINATION share/doc/berth/deploy COMPONENT runtime)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VENDOR "berth")
set(CPACK_PACKAGE_CONTACT "The berth maintainers <maintainers@berth.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Kubernetes scheduler that decides as kube-scheduler does")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME berth)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Takes kube-scheduler's flags and configuration, and simulates as well.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_RUNTIME_FILE_NAME DEB-DEFAULT)
if(CMAKE_CROSSCOMPILING)
  # Only a machine of that architecture could look at the program. test/dist holds it to this version of glibc.
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libc6 (>= 2.36)")
else()
  # The libraries it is linked to, found in the program itself: glibc, with BERTH_STATIC.
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS ca-certificates)
include(CPack)
