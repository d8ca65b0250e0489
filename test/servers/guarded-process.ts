import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface GuardedProcess {
  pid: number
  hasExited(): boolean
  /** Sends the signal and waits for the end; SIGKILL follows when it takes too long. */
  end(signal: NodeJS.Signals): Promise<void>
}

interface GuardedOptions {
  /** Output is added to this file. */
  logFile: string
  /** Deleted by the guard when this process dies without ending the server. */
  folder: string
  /** What the guard sends then; SIGKILL follows. */
  abandonSignal: 'QUIT' | 'TERM'
  user?: { uid: number; gid: number }
  /** Beside what this process has. */
  env?: Record<string, string>
}

const endLimitMs = 10_000
const pollMs = 10

// Reads from a pipe whose other end only our process holds: end of file means that we are gone, however we
// went (kill -9 included). A line means that the server was ended properly.
const guardScript = `
trap '' HUP INT TERM
read -r line && exit 0
kill -"$2" "$1"
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  kill -0 "$1" || break
  sleep 0.1
done
kill -KILL "$1"
rm -rf "$3"
`

/** A server that does not outlive this process, and does not keep it from ending either. */
export async function startGuarded(
  program: string,
  args: string[],
  { logFile, folder, abandonSignal, user, env }: GuardedOptions,
): Promise<GuardedProcess> {
  const log = openSync(logFile, 'a')
  // Detached: Ctrl-C in the terminal is for us, the guard ends the server after us.
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    env: { ...process.env, LC_ALL: 'C', ...env },
    stdio: ['ignore', log, log],
    ...user,
  })
  closeSync(log)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  const pid = child.pid
  if (pid === undefined) throw new Error(`${program} has no process id`)

  const guard = spawn('/bin/sh', ['-c', guardScript, 'guard', `${pid}`, abandonSignal, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.stdin.on('error', () => undefined)
  guard.unref()
  unref(guard.stdin)
  // A server that went by itself leaves its process id to others.
  child.once('exit', () => guard.stdin.end('ended\n'))
  child.unref()

  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  return {
    pid,
    hasExited,
    async end(signal) {
      if (hasExited()) return
      child.ref()
      child.kill(signal)
      const limit = setTimeout(() => child.kill('SIGKILL'), endLimitMs)
      await exited
      clearTimeout(limit)
    },
  }
}

/** Waits until the server answers; false when it has exited instead. */
export async function untilReady(
  server: GuardedProcess,
  isReady: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<boolean> {
  const deadline = performance.now() + limitMs
  while (performance.now() < deadline) {
    if (server.hasExited()) return false
    if (await isReady()) return true
    await sleep(pollMs)
  }
  await server.end('SIGKILL')
  return false
}

export function readLog(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8')
  } catch {
    return ''
  }
}

/** The one failure of a start that another port can mend. */
export function portWasTaken(logFile: string): boolean {
  return /address already in use/i.test(readLog(logFile))
}

// stdin of a child is a socket, which its type does not say.
function unref(stream: object): void {
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref()
}
