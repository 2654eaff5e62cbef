#!/usr/bin/env node
import "../dist/bin/millrace.js";
