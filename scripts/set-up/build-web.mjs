import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { takeLock } from './lock.mjs'

/** The scripts whose program never shows the dashboard. All others build it, so that none can be forgotten. */
const withoutWeb = new Set(['rowport', 'emulator', 'docs', 'bench', ''])

/** Builds the dashboard when what is there was made of other sources; silent when there is nothing to do. */
export async function buildWeb(root, script) {
  if (withoutWeb.has(script) || !existsSync(join(root, 'web', 'vite.config.ts'))) return
  if (!whyBuild(root)) return
  if (!existsSync(viteIn(root))) {
    // An image without development packages brings its own; the API works without.
    say('the dashboard is not built, and what builds it is not installed; the API works without it')
    return
  }
  const lock = await takeLock(root, say)
  try {
    const reason = whyBuild(root)
    if (!reason) return
    say(`building the dashboard (${reason})`)
    // Taken before: what is edited meanwhile is built next time.
    const stamp = stampOf(root)
    await run(root, lock)
    writeFileSync(stampFile(root), stamp)
  } finally {
    lock.release()
  }
}

function whyBuild(root) {
  if (!existsSync(join(root, 'web', 'dist', 'index.html'))) return 'for the first time'
  try {
    return readFileSync(stampFile(root), 'utf8') === stampOf(root) ? undefined : 'its sources have changed'
  } catch {
    return 'its sources may have changed'
  }
}

const stampFile = (root) => join(root, 'web', 'dist', '.sources')
const viteIn = (root) => join(root, 'node_modules', 'vite', 'bin', 'vite.js')

/** Of all sources, and of the packages that they are built with. */
function stampOf(root) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  const own = sourcesIn(join(root, 'web'))
  for (const file of [...own, ...sharedWith(own)]) {
    hash.update(`\0${relative(root, file)}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}

/** What the app imports from outside of `web/`: tables that it has in common with the server, which import nothing themselves. */
function sharedWith(files) {
  const shared = files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/ from '((?:\.\.\/)+src\/[^']+)'/g)].map(([, path]) =>
        join(dirname(file), path),
      ),
    )
  return [...new Set(shared)].filter((file) => existsSync(file)).sort()
}

function sourcesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'dist' && name !== 'node_modules')
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? sourcesIn(path) : [path]
    })
}

function run(root, lock) {
  const pinned = join(root, 'node_modules', '.bin', 'node')
  const node = existsSync(pinned) ? pinned : process.execPath
  const args = [viteIn(root), 'build', '--config', join('web', 'vite.config.ts'), '--logLevel', 'error']
  const vite = spawn(node, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (vite.pid) lock.add(vite.pid)
  return new Promise((resolve, reject) => {
    vite.on('error', (error) => reject(new Error(`the dashboard could not be built: ${error.message}`)))
    vite.on('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`the dashboard could not be built (vite ended with ${code ?? signal})`))
    })
  })
}

function say(text) {
  process.stderr.write(`rowport: ${text}\n`)
}
