import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, sep } from 'node:path'
import { countPackages, whyInstall } from './installed.mjs'
import { takeLock } from './lock.mjs'

const signOfLifeMs = 5000
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }

/** Node delivers a signal to all who listen by the time it gets round to it; who stops npm listens by then. */
const heard = () => {}

/** Runs `npm ci`, once however many set-ups want it at the same time. */
export async function install(root, { needsDev }) {
  const lock = await takeLock(root, say)
  try {
    // Whoever held the lock before may have done the work.
    const reason = whyInstall(root, { needsDev })
    if (!reason) return

    const startedAt = Date.now()
    const seconds = () => ((Date.now() - startedAt) / 1000).toFixed(0)
    say(`installing ${countPackages(root)} packages (${reason}); this takes about half a minute`)
    // Heard from before npm runs: a signal in between would end us and leave npm behind.
    for (const signal of Object.keys(exitCodes)) process.on(signal, heard)
    const npm = startNpm(root, needsDev)
    if (npm.pid) lock.add(npm.pid)
    const signOfLife = setInterval(() => {
      if (!npm.showsProgress) say(`still installing, ${seconds()} s`)
    }, signOfLifeMs)
    try {
      await ended(npm)
    } finally {
      clearInterval(signOfLife)
      for (const signal of Object.keys(exitCodes)) process.off(signal, heard)
    }
    checkDiskNotFull(root)
    const leftOut = whyInstall(root, { needsDev })
    // npm counts it as success when it cannot get an optional package.
    say(`installed in ${seconds()} s${leftOut ? `, but ${leftOut}: npm could not get it` : ''}`)
  } finally {
    lock.release()
  }
}

// On a full disk npm cuts files short, warns where nobody looks, and reports success.
function checkDiskNotFull(root) {
  const probe = join(root, 'node_modules', '.space-probe')
  try {
    writeFileSync(probe, Buffer.alloc(1024 * 1024))
  } catch (error) {
    rmSync(join(root, 'node_modules', '.package-lock.json'), { force: true })
    throw new Error(`set-up failed: what was installed is incomplete (${error.message})`)
  } finally {
    rmSync(probe, { force: true })
  }
}

function startNpm(root, needsDev) {
  const args = ['ci', '--include=optional', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund']
  // Without a network npm would try for more than a minute.
  args.push('--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=10000')
  if (needsDev) args.push('--include=dev')
  const showsProgress = Boolean(process.stderr.isTTY) && !process.env.CI && process.env.TERM !== 'dumb'
  // npm draws its progress only when its stdout is a terminal as well: both are our stderr.
  const stdio = showsProgress ? ['ignore', 2, 2] : ['ignore', 'ignore', 2]
  const child = spawn('npm', args, {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutOwnBin(root) },
    stdio,
  })
  return Object.assign(child, { showsProgress })
}

// npm must not run on the Node that it is about to delete.
function pathWithoutOwnBin(root) {
  const own = join(root, 'node_modules') + sep
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(own))
    .join(delimiter)
}

function ended(npm) {
  return new Promise((resolve, reject) => {
    let stoppedBy
    const stop = (signal) => {
      npm.kill(stoppedBy ? 'SIGKILL' : signal)
      stoppedBy = signal
    }
    for (const signal of Object.keys(exitCodes)) process.on(signal, stop)

    const fail = (message, exitCode) => reject(Object.assign(new Error(message), { exitCode }))
    npm.on('error', (error) => {
      if (error.code === 'ENOENT')
        fail('npm is not on the PATH; it comes with Node.js: https://nodejs.org/en/download', 127)
      else fail(`npm could not be started: ${error.message}`, 1)
    })
    npm.on('exit', (code, signal) => {
      for (const name of Object.keys(exitCodes)) process.off(name, stop)
      if (stoppedBy) fail('set-up was interrupted; the next start installs again', exitCodes[stoppedBy])
      else if (code === 0) resolve()
      else if (code === null) fail(`npm ci was ended by ${signal}`, 1)
      else fail(`set-up failed: npm ci ended with code ${code}; its own lines above say why`, code)
    })
  })
}

function say(text) {
  process.stderr.write(`rowport: ${text}\n`)
}
