#!/usr/bin/env node
// What `npx rowport` runs. It is written for the oldest Node that npm still starts, so that everybody gets the sentence.
'use strict'
var needed = /(\d+)\.(\d+)/.exec(require('../package.json').engines.node)
var has = process.versions.node.split('.')
var isNewEnough =
  Number(has[0]) > Number(needed[1]) ||
  (Number(has[0]) === Number(needed[1]) && Number(has[1]) >= Number(needed[2]))
// The C library reads this before a program begins: without it, memory that was freed stays with a server (docs/decisions/017-memory.md).
// To begin twice takes a fifth of a start, so a server that keeps nothing and is there to be tried begins once (041-what-a-start-takes.md).
var served = process.argv
  .slice(3)
  .filter((word, at, words) => !/^-/.test(word) && !/^--[^=]+$/.test(words[at - 1]))
var isToLast =
  served.length === 0 ||
  /^--data(=|$)/m.test(process.argv.join('\n')) ||
  process.env.ROWPORT_DATA ||
  process.env.DATABASE_URL
var isToBeginAnew =
  process.argv[2] === 'serve' &&
  isToLast &&
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
  keepCompiled(require('node:module'), require('node:path').join(__dirname, '../.compiled'))
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

// What was compiled is used by the next start. It lies beside the code: whoever can write there could change that as well, and it goes
// when the package goes. Where nothing can be written, each start compiles for itself.
function keepCompiled(modules, folder) {
  modules.enableCompileCache(folder)
  // A server may run for months, and Node writes it down only at the end.
  setTimeout(modules.flushCompileCache, 2000).unref()
}
