import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from './find-program.ts'
import { freePort } from './free-port.ts'
import { portWasTaken, readLog, startGuarded, untilReady } from './guarded-process.ts'

export interface NginxServer {
  port: number
  /** Self-signed, for `localhost`. */
  certificate: string
  /** What nginx has logged so far, warnings and worse. */
  log(): string
  stop(): Promise<void>
}

const run = promisify(execFile)
const portAttempts = 5

/** Only where there is openssl as well, for its certificate. */
export function findNginx(): string | undefined {
  if (!findProgram(['openssl'])) return undefined
  // Debian keeps it where only root looks.
  return findProgram(['nginx'], ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/opt/homebrew/bin/nginx'])
}

/**
 * nginx with one site: a file for `conf.d`, of which only the addresses of the upstreams (in their order), the port and
 * the certificate are replaced.
 */
export async function startNginx(siteFile: string, upstreamPorts: readonly number[]): Promise<NginxServer> {
  const program = findNginx()
  if (!program) throw new Error('nginx is not on this machine')
  const folder = await mkdtemp(join(tmpdir(), 'rowport-nginx-'))
  const logFile = join(folder, 'log')
  const site = await readFile(siteFile, 'utf8')
  try {
    await makeCertificate(folder)
    for (let attempt = 1; attempt <= portAttempts; attempt++) {
      const port = await freePort()
      await writeFile(join(folder, 'site.conf'), placed(site, { upstreamPorts, port, folder }))
      await writeFile(join(folder, 'nginx.conf'), await frame(folder))
      const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', logFile]
      const server = await startGuarded(program, args, { logFile, folder, abandonSignal: 'TERM' })
      if (await untilReady(server, () => listens(folder, server.pid))) {
        return {
          port,
          certificate: await readFile(join(folder, 'certificate.pem'), 'utf8'),
          log: () => readLog(logFile),
          async stop() {
            await server.end('SIGTERM')
            await rm(folder, { recursive: true, force: true })
          },
        }
      }
      if (!portWasTaken(logFile)) break
    }
    throw new Error(`nginx did not start:\n${readLog(logFile)}`)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

interface Place {
  upstreamPorts: readonly number[]
  port: number
  folder: string
}

function placed(site: string, { upstreamPorts, port, folder }: Place): string {
  let at = 0
  return replaced(site, [
    [/\bserver [\d.]+:\d+/g, () => `server 127.0.0.1:${upstreamPorts[at++]}`],
    [/\blisten 443 ssl;/g, () => `listen 127.0.0.1:${port} ssl;`],
    [/\bssl_certificate \S+;/g, () => `ssl_certificate ${folder}/certificate.pem;`],
    [/\bssl_certificate_key \S+;/g, () => `ssl_certificate_key ${folder}/key.pem;`],
  ])
}

function replaced(text: string, changes: [RegExp, () => string][]): string {
  for (const [pattern, replacement] of changes) {
    // A file in which nothing is replaced would run with its own addresses.
    if (!text.match(pattern)) throw new Error(`There is no ${pattern} in the site`)
    text = text.replaceAll(pattern, replacement)
  }
  return text
}

/** What a distribution's nginx.conf has around a site; one process, so that its end is the end of all of it. */
async function frame(folder: string): Promise<string> {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await Promise.all(temporary.map((name) => mkdir(join(folder, name), { recursive: true })))
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/log warn;
events { worker_connections 768; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  include ${folder}/site.conf;
}
`
}

async function makeCertificate(folder: string): Promise<void> {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  await run('openssl', ['req', '-x509', ...kind, ...files, ...name])
}

/** The file is written once the port is nginx's; a connection could be to whoever took it before. */
async function listens(folder: string, pid: number): Promise<boolean> {
  return readLog(join(folder, 'pid')).trim() === `${pid}`
}
