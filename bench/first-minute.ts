// npm run bench:first-minute: from an empty folder to the first answer, beside json-server and an empty Node server in the same run. Needs
// npm's registry, or `--offline` to leave json-server out.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../test/servers/free-port.ts'

const { values: given } = parseArgs({ options: { offline: { type: 'boolean', default: false } } })
const rounds = 7
const idleMs = 3_000
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
const folder = mkdtempSync(join(tmpdir(), 'rowport-first-minute-'))

interface Installed {
  name: string
  packedBytes: number | null
  installMs: number
  installedMb: number
  /** The words after `node`. */
  command(port: number): string[]
  path: string
  /** As after an install; nothing where every start is like the first. */
  forgetStarts?(): void
}

interface Started {
  answerMs: number
  processorMs: number
  residentMb: number
}

try {
  writeFileSync(join(folder, 'prices.csv'), 'sku,price\nA1,5\nB2,7\n')
  writeFileSync(join(folder, 'db.json'), '{"prices":[{"id":"1","sku":"A1","price":5}]}')
  const all = [installRowport(), ...(given.offline ? [] : [installJsonServer()]), bareNode()]
  const firsts = new Map<Installed, Started[]>(all.map((one) => [one, []]))
  const later = new Map<Installed, Started[]>(all.map((one) => [one, []]))
  // In turns, so that a busy minute of the machine is everybody's.
  for (let round = 0; round < rounds; round++) {
    for (const installed of all) {
      if (installed.forgetStarts) {
        installed.forgetStarts()
        firsts.get(installed)?.push(await start(installed))
      }
      later.get(installed)?.push(await start(installed))
    }
  }
  for (const installed of all) {
    const { name, packedBytes, installMs, installedMb, forgetStarts } = installed
    const packed = packedBytes === null ? '' : `${(packedBytes / 1e6).toFixed(2)} MB packed, `
    process.stdout.write(
      `${name}: ${packed}installed ${installedMb.toFixed(1)} MB in ${(installMs / 1000).toFixed(1)} s\n`,
    )
    if (forgetStarts) tell('first start', firsts.get(installed) ?? [])
    tell(forgetStarts ? 'later starts' : 'starts', later.get(installed) ?? [])
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function tell(which: string, started: readonly Started[]): void {
  const sorted = (of: (one: Started) => number) => started.map(of).sort((a, b) => a - b)
  const middle = (of: (one: Started) => number) => (sorted(of)[rounds >> 1] ?? 0).toFixed(0)
  const processor = sorted((one) => one.processorMs).map((ms) => ms.toFixed(0))
  process.stdout.write(
    `  ${which}: first answer ${middle((one) => one.answerMs)} ms, ` +
      `processor ${processor[0]} ms at least, ${processor[rounds >> 1]} in the middle (${processor.join(' ')}), ` +
      `resident idle ${middle((one) => one.residentMb)} MB\n`,
  )
}

function installRowport(): Installed {
  const out = join(folder, 'out')
  execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/package.ts'), '--out', out])
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
  const file = join(out, `rowport-${version}.tgz`)
  const bin = 'node_modules/rowport/bin/rowport.cjs'
  return {
    ...install('rowport', file),
    packedBytes: statSync(file).size,
    command: () => [join(folder, 'rowport', bin), 'serve', 'prices.csv'],
    path: '/api/sheets/local/prices',
    forgetStarts: () =>
      rmSync(join(folder, 'rowport/node_modules/rowport/.compiled'), { recursive: true, force: true }),
  }
}

function installJsonServer(): Installed {
  const bin = 'node_modules/json-server/lib/cli/bin.js'
  return {
    ...install('json-server', 'json-server'),
    packedBytes: null,
    command: (port) => [join(folder, 'json-server', bin), 'db.json', '--port', String(port)],
    path: '/prices',
  }
}

/** What Node itself takes with the parts that every start needs, on this machine and at this hour. */
function bareNode(): Installed {
  const file = join(folder, 'bare.mjs')
  writeFileSync(
    file,
    `const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    new DatabaseSync(':memory:').exec('create table a (b)')
    process.getBuiltinModule('node:crypto').randomBytes(8)
    process.getBuiltinModule('node:http').createServer((_, answer) => answer.end('yes')).listen(process.env.PORT)`,
  )
  return {
    name: 'bare Node with node:http, node:sqlite and node:crypto',
    packedBytes: null,
    installMs: 0,
    installedMb: 0,
    command: () => [file],
    path: '/',
  }
}

function install(name: string, what: string) {
  const into = join(folder, name)
  mkdirSync(into)
  const begunMs = performance.now()
  execFileSync('npm', ['install', '--no-audit', '--no-fund', what], { cwd: into })
  const installMs = performance.now() - begunMs
  const bytes = execFileSync('du', ['-sb', 'node_modules'], { cwd: into, encoding: 'utf8' })
  return { name, installMs, installedMb: Number.parseInt(bytes, 10) / 1e6 }
}

/** The first answer is any: without a key, Rowport's says that one is required. */
async function start({ command, path }: Installed): Promise<Started> {
  const port = await freePort()
  const env = { ...process.env, PORT: String(port) }
  const begunMs = performance.now()
  const child = spawn(process.execPath, command(port), { cwd: folder, env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  try {
    while (!(await isAnswered(`http://127.0.0.1:${port}${path}`))) {
      if (child.exitCode !== null || performance.now() - begunMs > 30_000)
        throw new Error(`${command(port)[0]} does not answer`)
      await sleep(5)
    }
    const answerMs = performance.now() - begunMs
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const processorMs = ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1000
    await sleep(idleMs)
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    return { answerMs, processorMs, residentMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024 }
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

async function isAnswered(url: string): Promise<boolean> {
  return fetch(url).then(
    async (answer) => (await answer.text()).length > 0,
    () => false,
  )
}
