# Installing and packing: the program, its manual page and completions, its desktop entry, MIME types and icon,
# the Python package that captures kernels, documents and licences. Included at the end of the top level
# CMakeLists.txt; `make install` and `make package` use it.
include(GNUInstallDirs)

install(TARGETS pallascope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# Made by the program of itself.
set(made ${CMAKE_BINARY_DIR}/made)
add_custom_command(OUTPUT ${made}/pallascope.1 ${made}/pallascope ${made}/_pallascope ${made}/pallascope.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
  COMMAND $<TARGET_FILE:pallascope> manual > ${made}/pallascope.1
  COMMAND $<TARGET_FILE:pallascope> completion bash > ${made}/pallascope
  COMMAND $<TARGET_FILE:pallascope> completion zsh > ${made}/_pallascope
  COMMAND $<TARGET_FILE:pallascope> completion fish > ${made}/pallascope.fish
  DEPENDS pallascope VERBATIM)
add_custom_target(pallascope_manual ALL DEPENDS ${made}/pallascope.1)
install(FILES ${made}/pallascope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${made}/pallascope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${made}/_pallascope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/pallascope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# `pallascope capture` finds it there.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/kernels/jax/ DESTINATION ${CMAKE_INSTALL_DATADIR}/pallascope/python
  FILES_MATCHING PATTERN "*.py" PATTERN "pyproject.toml" PATTERN "__pycache__" EXCLUDE
  PATTERN "*.egg-info" EXCLUDE PATTERN "build" EXCLUDE)

install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/LICENSE
  ${CMAKE_SOURCE_DIR}/resources/fonts/LICENSE-Inter.txt
  ${CMAKE_SOURCE_DIR}/resources/fonts/LICENSE-JetBrainsMono.txt
  ${CMAKE_SOURCE_DIR}/resources/copyright
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/pallascope)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/pallascope
  PATTERN "decisions" EXCLUDE PATTERN "__pycache__" EXCLUDE)
if(PALLASCOPE_BUILD_GUI)
  install(FILES ${CMAKE_SOURCE_DIR}/resources/pallascope.desktop
    DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${CMAKE_SOURCE_DIR}/resources/pallascope.xml
    DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
  install(FILES ${CMAKE_SOURCE_DIR}/resources/icons/pallascope.svg
    DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME pallascope)
set(CPACK_PACKAGE_VENDOR "The Pallascope authors")
set(CPACK_PACKAGE_CONTACT "The Pallascope authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-venv")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # dpkg-shlibdeps finds Qt and the other libraries
include(CPack)
