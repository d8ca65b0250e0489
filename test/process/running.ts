import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

export const projectFolder = join(import.meta.dirname, '..', '..')

/** A folder of its own for one test, and the processes that it starts there; all are gone when it ends. */
export interface Place {
  folder: string
  dataFolder: string
  /** `node src/main.ts`; resolves when its screen is there. */
  start(wish?: ProcessWish): Promise<RunningServer>
  /** `node src/main.ts` that is not expected to come up, or not waited for. */
  launch(wish?: ProcessWish): Launched
  /** `node src/cli.ts …`, to its end. */
  rowport(words: readonly string[], wish?: ProcessWish): Promise<Finished>
  /** The same command in this process: another process than the server's, without the cost of one more. */
  rowportHere(words: readonly string[], wish?: Pick<ProcessWish, 'env'>): Promise<Finished>
  /** `bash -c …`, as a person would paste it into another terminal: none of the server's settings are there. */
  bash(line: string, wish?: ProcessWish): Promise<Finished>
}

export interface ProcessWish {
  /** `node src/cli.ts <words>` instead of `node src/main.ts`. */
  words?: readonly string[]
  env?: Record<string, string>
  cwd?: string
}

export interface Launched {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** Resolves when `text` has appeared on that stream; rejects when the process ends without it. */
  says(stream: 'stdout' | 'stderr', text: string): Promise<void>
  ended: Promise<Finished>
}

export interface RunningServer extends Launched {
  screen: string
  port: number
  url: string
}

export interface Finished {
  /** null when a signal ended it. */
  code: number | null
  stdout: string
  stderr: string
}

// Compiling takes most of a short process's time; all processes of all runs share what one has compiled.
const compileCache = join(projectFolder, 'node_modules/.cache/node')

const alive = new Set<ChildProcess>()
// The test runner ends a file that takes too long with SIGTERM, which would leave its children behind.
process.once('SIGTERM', () => process.exit(143))
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

/**
 * `t`: the test that it is for, or `{ after }` of `node:test` for all tests of a file. `installed`: the command of an installed
 * package, which is run instead of the clone's own.
 */
export async function freshPlace(
  t: { after(work: () => Promise<void>): void },
  installed?: string,
): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'rowport-process-'))
  const dataFolder = join(folder, 'data')
  const launched: Launched[] = []
  t.after(async () => {
    for (const { child } of launched) child.kill('SIGKILL')
    await Promise.all(launched.map(({ ended }) => ended))
    await rm(folder, { recursive: true, force: true })
  })
  // Strangers can come in, as with those who offer it to others: more doors are open.
  const settings = { ROWPORT_DATA: dataFolder, PORT: '0', ROWPORT_SIGN_UP: 'on' }

  function launchHere(
    program: string,
    args: readonly string[],
    { env, cwd = folder }: ProcessWish,
  ): Launched {
    const process = launchProcess(program, args, { HOME: folder, ...env }, cwd)
    launched.push(process)
    return process
  }

  function launch({ words, env, ...wish }: ProcessWish = {}): Launched {
    const its = { ...wish, env: { ...settings, ...env } }
    if (installed !== undefined)
      return launchHere(process.execPath, [installed, ...(words ?? ['serve'])], its)
    const script = join(projectFolder, words ? 'src/cli.ts' : 'src/main.ts')
    return launchHere(process.execPath, [script, ...(words ?? [])], its)
  }

  return {
    folder,
    dataFolder,
    launch,
    async start(wish) {
      const server = launch(wish)
      await server.says('stdout', 'Ctrl+C')
      const screen = server.stdout()
      const listening = logged(server.stderr(), 'server_listening')[0] as { port: number } | undefined
      const port = listening?.port ?? 0
      return { ...server, screen, port, url: `http://127.0.0.1:${port}` }
    },
    rowport: (words, wish) => launch({ ...wish, words }).ended,
    async rowportHere(words, { env } = {}) {
      // Most tests that start processes need nothing of it in their own.
      const { cli } = await import('../../src/cli.ts')
      const stdout: string[] = []
      const stderr: string[] = []
      const code = await cli(words, {
        env: { ...settings, ...env },
        stdout: { write: (text) => stdout.push(text) },
        stderr: { write: (text) => stderr.push(text) },
      })
      return { code, stdout: stdout.join(''), stderr: stderr.join('') }
    },
    bash: (line, wish = {}) => launchHere('bash', ['-c', line], wish).ended,
  }
}

/** The events of this name in a log, in order. */
export function logged(stderr: string, event: string): Record<string, unknown>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line.event === event)
}

function launchProcess(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd: string,
): Launched {
  // The pinned Node comes first for whatever the process starts in turn.
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const child = spawn(program, args, {
    cwd,
    env: { PATH: path, NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  alive.add(child)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk
      child.emit('said')
    })
  }
  const ended = once(child, 'close').then(([code]): Finished => {
    alive.delete(child)
    return { code: code as number | null, ...output }
  })

  async function says(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    const outcome = { isOver: false }
    const over = ended.then(() => {
      outcome.isOver = true
    })
    while (!output[stream].includes(text)) {
      if (outcome.isOver) {
        throw new Error(`It ended without "${text}".\nstdout: ${output.stdout}\nstderr: ${output.stderr}`)
      }
      const heard = new AbortController()
      await Promise.race([once(child, 'said', { signal: heard.signal }).catch(() => {}), over])
      heard.abort()
    }
  }

  return { child, stdout: () => output.stdout, stderr: () => output.stderr, says, ended }
}
