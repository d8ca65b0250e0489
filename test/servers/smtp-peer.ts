import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'

/** A mail server of the test's own, which takes mail over a real socket and can be as bad as real ones are. */
export interface SmtpPeer {
  port: number
  url: string
  /** All that it has taken, in their order. */
  mails: ReceivedMail[]
  /** How often somebody connected. */
  connections: number
  behavior: SmtpBehavior
  /** The next mail that nobody has asked for yet, when it is there. */
  next(): Promise<ReceivedMail>
}

export interface ReceivedMail {
  from: string
  /** Of several, all, with ` | ` in between. */
  to: string
  /** As they came, by lower-case name. */
  headers: Record<string, string>
  subject: string
  text: string
  user: string | null
  isEncrypted: boolean
}

export interface SmtpBehavior {
  /** Replies to a command in place of the usual ones, such as `{ RCPT: '550 no such user' }`; `.` is the end of a mail. */
  replies?: Record<string, string>
  /** Takes the mail and hangs up instead of saying so. */
  dropsAfterData?: boolean
  /** Says nothing for so long before each reply. */
  slowMs?: number
  /** Has STARTTLS, or speaks TLS from the first byte. */
  tls?: 'starttls' | 'from the start'
  login?: { user: string; password: string }
}

const patienceMs = 20_000

export async function startSmtpPeer(t: TestContext, behavior: SmtpBehavior = {}): Promise<SmtpPeer> {
  const sockets = new Set<Socket>()
  let read = 0
  const server = createServer((socket) => {
    peer.connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    void serve(socket, peer).catch(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const peer: SmtpPeer = {
    port,
    url: `smtp://127.0.0.1:${port}`,
    mails: [],
    connections: 0,
    behavior,
    async next() {
      const endMs = performance.now() + patienceMs
      while (peer.mails.length <= read) {
        if (performance.now() > endMs) throw new Error('No mail came')
        await sleep(20)
      }
      return peer.mails[read++] as ReceivedMail
    },
  }
  return peer
}

async function serve(plain: Socket, peer: SmtpPeer): Promise<void> {
  const { behavior } = peer
  let socket: Socket = behavior.tls === 'from the start' ? encrypted(plain) : plain
  const isEncrypted = () => socket instanceof TLSSocket
  const reply = async (text: string) => {
    await sleep(behavior.slowMs ?? 0)
    socket.write(`${text}\r\n`)
  }
  let lines = linesOf(socket)
  let [from, to] = ['', '']
  let user: string | null = null
  const line = async () => (await lines.next()).value ?? null
  await reply('220 peer.test ESMTP')
  for (let said = await line(); said !== null; said = await line()) {
    const command = (/^[A-Z]+/i.exec(said)?.[0] ?? '').toUpperCase()
    const otherwise = behavior.replies?.[command]
    if (otherwise !== undefined) {
      await reply(otherwise)
      continue
    }
    switch (command) {
      case 'EHLO': {
        const more = [
          ...(behavior.tls === 'starttls' && !isEncrypted() ? ['STARTTLS'] : []),
          ...(behavior.login ? ['AUTH PLAIN'] : []),
        ]
        await reply(['250-peer.test', ...more.map((name) => `250-${name}`), '250 8BITMIME'].join('\r\n'))
        break
      }
      case 'STARTTLS':
        await reply('220 go on')
        socket = encrypted(plain)
        lines = linesOf(socket)
        break
      case 'AUTH': {
        const [, given = '', password = ''] = Buffer.from(said.split(' ')[2] ?? '', 'base64')
          .toString()
          .split('\0')
        const isRight = given === behavior.login?.user && password === behavior.login.password
        user = isRight ? given : null
        await reply(isRight ? '235 welcome' : '535 5.7.8 not with these')
        break
      }
      case 'MAIL':
      case 'RCPT': {
        const address = /<(.*)>/.exec(said)?.[1] ?? ''
        if (behavior.login && user === null) await reply('530 5.7.0 sign in first')
        else {
          if (command === 'MAIL') [from, to] = [address, '']
          else to = to === '' ? address : `${to} | ${address}`
          await reply('250 fine')
        }
        break
      }
      case 'DATA': {
        await reply('354 go on')
        const body: string[] = []
        for (let text = await line(); text !== null && text !== '.'; text = await line())
          body.push(text.replace(/^\./, ''))
        const refusal = behavior.replies?.['.']
        if (refusal === undefined)
          peer.mails.push({ from, to, user, isEncrypted: isEncrypted(), ...parsedMail(body.join('\r\n')) })
        if (behavior.dropsAfterData) return void socket.destroy()
        await reply(refusal ?? '250 taken')
        break
      }
      case 'QUIT':
        await reply('221 bye')
        socket.end()
        return
      default:
        await reply('250 fine')
    }
  }
}

async function* linesOf(socket: Socket): AsyncGenerator<string, undefined> {
  let rest = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    rest += (chunk as Buffer).toString('utf8')
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const line = rest.slice(0, end)
      rest = rest.slice(end + 2)
      yield line
    }
  }
  return undefined
}

function parsedMail(source: string): Pick<ReceivedMail, 'headers' | 'subject' | 'text'> {
  const [head = '', body = ''] = source.split(/\r\n\r\n(.*)/s)
  const headers = Object.fromEntries(
    head
      .replaceAll(/\r\n[ \t]+/g, ' ')
      .split('\r\n')
      .map((line) => {
        const [name = '', value = ''] = line.split(/: (.*)/s)
        return [name.toLowerCase(), value]
      }),
  )
  const coding = headers['content-transfer-encoding']
  const text =
    coding === 'base64'
      ? Buffer.from(body, 'base64').toString()
      : coding === 'quoted-printable'
        ? unquoted(body.replaceAll(/=\r\n/g, ''))
        : body
  return { headers, subject: decodedWords(headers.subject ?? ''), text: text.replaceAll('\r\n', '\n') }
}

function unquoted(text: string): string {
  return Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')
}

/** RFC 2047; white space between two of them does not count. */
function decodedWords(text: string): string {
  return text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_, coding: string, word: string) =>
      coding.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString()
        : unquoted(word.replaceAll('_', ' ')),
    )
}

/** Made once for all: for 127.0.0.1 and 0.0.0.0, trusted by nobody who was not told to. */
export function peerCertificate(): { key: string; cert: string } {
  made ??= makeCertificate()
  return made
}

let made: { key: string; cert: string } | null = null

function makeCertificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'rowport-smtp-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const names = 'subjectAltName=IP:127.0.0.1,IP:0.0.0.0'
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const wish = ['-x509', ...curve, '-days', '2', '-subj', '/CN=peer.test', '-addext', names]
  execFileSync('openssl', ['req', ...wish, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(folder, { recursive: true })
  return pair
}

function encrypted(plain: Socket): TLSSocket {
  const socket = new TLSSocket(plain, { isServer: true, ...peerCertificate() })
  socket.on('error', () => plain.destroy())
  return socket
}
