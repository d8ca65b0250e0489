// npm run bench:first-minute: from an empty folder to the first answer, beside json-server and an empty Node server in the same run. Needs npm's registry.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../test/servers/free-port.ts'

const rounds = 5
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
}

interface Started {
  answerMs: number
  processorMs: number
  residentMb: number
}

try {
  writeFileSync(join(folder, 'prices.csv'), 'sku,price\nA1,5\nB2,7\n')
  writeFileSync(join(folder, 'db.json'), '{"prices":[{"id":"1","sku":"A1","price":5}]}')
  for (const installed of [installRowport(), installJsonServer(), bareNode()]) {
    const started: Started[] = []
    for (let round = 0; round < rounds; round++) started.push(await start(installed))
    const middle = (of: (one: Started) => number) => started.map(of).sort((a, b) => a - b)[rounds >> 1] ?? 0
    const { name, packedBytes, installMs, installedMb } = installed
    const packed = packedBytes === null ? '' : `${(packedBytes / 1e6).toFixed(2)} MB packed, `
    process.stdout.write(
      `${name}: ${packed}installed ${installedMb.toFixed(1)} MB in ${(installMs / 1000).toFixed(1)} s; ` +
        `first answer ${middle((one) => one.answerMs).toFixed(0)} ms, ` +
        `processor ${middle((one) => one.processorMs).toFixed(0)} ms ` +
        `(${started.map((one) => one.processorMs.toFixed(0)).join(' ')}), ` +
        `resident idle ${middle((one) => one.residentMb).toFixed(0)} MB\n`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
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

/** What Node itself takes, on this machine and at this hour. */
function bareNode(): Installed {
  const file = join(folder, 'bare.mjs')
  writeFileSync(
    file,
    `import { createServer } from 'node:http'; createServer((_, answer) => answer.end('yes')).listen(process.env.PORT)`,
  )
  return {
    name: 'bare Node',
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
