#!/usr/bin/env node
// The bin of the package: npm links it when it installs, before anything is built, so it is in git.
import '../dist/main.js';
