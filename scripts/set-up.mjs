// Runs before every npm script, on whatever Node the machine has (18 or newer): plain JavaScript, no
// packages, silent when there is nothing to do. stdout belongs to the command that follows.
import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWeb } from './set-up/build-web.mjs'
import { stampInstalled, whyInstall } from './set-up/installed.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

// A production image made with `npm ci --omit=dev` can run the program, not the tests.
const needsDev = !['start', 'rowport'].includes(process.env.npm_lifecycle_event ?? '')

try {
  const reason = whyInstall(root, { needsDev })
  if (reason) {
    const { install } = await import('./set-up/install.mjs')
    await install(root, { needsDev })
  }
  checkNode()
  // Only now: npm installs without an optional package that it cannot get, and the pinned Node is one.
  if (reason) stampInstalled(root, { needsDev })
  await buildWeb(root, process.env.npm_lifecycle_event ?? '')
} catch (error) {
  process.stderr.write(`rowport: ${error.message}\n`)
  process.exitCode = error.exitCode ?? 1
}

function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [, major, minor] = /(\d+)\.(\d+)/.exec(engines.node).map(Number)
  const version = versionOfNextNode()
  const [nextMajor, nextMinor] = version.split('.').map(Number)
  if (nextMajor > major || (nextMajor === major && nextMinor >= minor)) return
  throw new Error(
    `Node.js ${major}.${minor} or newer is needed, this machine has ${version}, and the pinned one ${whyNotPinned()}`,
  )
}

function whyNotPinned() {
  const missing = whyInstall(root, { needsDev })
  if (missing) {
    return `could not be installed (${missing}).\nA full disk or a broken connection are the usual causes: run the command again after a look at both.`
  }
  return `does not run on ${process.platform} ${process.arch}.\nInstall a newer Node.js: https://nodejs.org/en/download`
}

/** The version of the `node` that the next command of the npm script will find. */
function versionOfNextNode() {
  const pinned = join(root, 'node_modules', '.bin', 'node')
  let pinnedFile
  try {
    pinnedFile = realpathSync(pinned)
  } catch {
    return process.versions.node
  }
  if (pinnedFile === realpathSync(process.execPath)) return process.versions.node

  const { status, stdout } = spawnSync(pinned, ['--version'], { encoding: 'utf8' })
  if (status === 0) return stdout.trim().replace(/^v/, '')

  // It is there but cannot run (a glibc binary on Alpine, say): out of the way of the machine's own.
  rmSync(pinned, { force: true })
  return process.versions.node
}
