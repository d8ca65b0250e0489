#!/usr/bin/env node
// What `npx rowport` runs. It is written for the oldest Node that npm still starts, so that everybody gets the sentence.
'use strict'
var needed = /(\d+)\.(\d+)/.exec(require('../package.json').engines.node)
var has = process.versions.node.split('.')
var isNewEnough =
  Number(has[0]) > Number(needed[1]) ||
  (Number(has[0]) === Number(needed[1]) && Number(has[1]) >= Number(needed[2]))
// The C library reads this before a program begins: without it, memory that was freed stays with a server (docs/decisions/017-memory.md).
var isToBeginAnew =
  process.argv[2] === 'serve' &&
  process.platform === 'linux' &&
  !process.env.MALLOC_MMAP_THRESHOLD_ &&
  process.execve
if (isNewEnough && isToBeginAnew) {
  process.execve(
    process.execPath,
    [process.execPath].concat(process.execArgv, __filename, process.argv.slice(2)),
    Object.assign({}, process.env, { MALLOC_MMAP_THRESHOLD_: '65536' }),
  )
} else if (isNewEnough) {
  import('../dist/server/rowport.js').then((rowport) => rowport.runTyped())
} else {
  process.stderr.write(
    'Rowport needs Node.js ' +
      needed[0] +
      ' or newer, and this is ' +
      process.versions.node +
      '. Get one from https://nodejs.org/en/download\n',
  )
  process.exitCode = 1
}
