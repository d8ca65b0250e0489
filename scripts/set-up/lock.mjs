import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

const pollMs = 200
const heartbeatMs = 2000
const signOfLifeMs = 5000
// For a holder in another container or on another host, whose process id says nothing here.
const silentHolderMs = 60_000

/**
 * One set-up at a time in a folder. Not inside node_modules: `npm ci` empties that first.
 * The lock names the processes that work under it (npm outlives a set-up that is killed), and is taken over
 * when all of them are gone.
 */
export async function takeLock(root, say) {
  const file = join(root, '.set-up.lock')
  const holder = { host: hostname(), pids: [process.pid] }
  let waitedMs = 0
  while (!create(file, holder)) {
    const other = readHolder(file)
    if (other && isGone(other)) {
      removeAbandoned(file)
      continue
    }
    if (waitedMs % signOfLifeMs === 0) {
      say(
        `another set-up is at work in this folder${other ? ` (process ${other.pids[0]})` : ''}; waiting for it`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
    waitedMs += pollMs
  }
  const heartbeat = setInterval(() => touch(file), heartbeatMs)
  return {
    add(pid) {
      holder.pids.push(pid)
      writeFileSync(file, JSON.stringify(holder))
    },
    release() {
      clearInterval(heartbeat)
      rmSync(file, { force: true })
    },
  }
}

// Written aside and linked, so that the lock never exists without its content.
function create(file, holder) {
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, JSON.stringify(holder))
    linkSync(draft, file)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw new Error(`set-up cannot write to the project's folder: ${error.message}`)
  } finally {
    rmSync(draft, { force: true })
  }
}

function readHolder(file) {
  try {
    return { ...JSON.parse(readFileSync(file, 'utf8')), seenAtMs: statSync(file).mtimeMs }
  } catch {
    return undefined
  }
}

function isGone(holder) {
  if (Date.now() - holder.seenAtMs > silentHolderMs) return true
  return holder.host === hostname() && !holder.pids.some(isAlive)
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

// Of several that find the same abandoned lock, rename lets one win. A slower one may catch the winner's new
// lock instead: it looks again at what it caught, and puts a living one back.
function removeAbandoned(file) {
  const aside = `${file}.${process.pid}.abandoned`
  try {
    renameSync(file, aside)
    const caught = readHolder(aside)
    if (caught && !isGone(caught)) linkSync(aside, file)
  } catch {
    // Somebody else was faster.
  } finally {
    rmSync(aside, { force: true })
  }
}

function touch(file) {
  try {
    utimesSync(file, new Date(), new Date())
  } catch {
    // Gone with its folder: nothing to keep.
  }
}
