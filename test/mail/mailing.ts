import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createVisitor, type Visitor } from '../connect/visitor.ts'
import { type Rowport, startRowport } from '../harness.ts'
import { type SmtpBehavior, type SmtpPeer, startSmtpPeer } from '../servers/smtp-peer.ts'

export const password = 'correct horse battery'
export const ada = { email: 'ada@example.com', password, slug: 'ada' }

export function settingsFor({ port }: Pick<SmtpPeer, 'port'>) {
  const mail = {
    host: '127.0.0.1',
    port,
    isTlsFromStart: false,
    login: null,
    from: 'Rowport <rowport@example.com>',
  }
  return { mail, baseUrl: 'http://127.0.0.1:0' }
}

export async function startMailing(
  t: TestContext,
  behavior: SmtpBehavior = {},
): Promise<{ rowport: Rowport; peer: SmtpPeer }> {
  const peer = await startSmtpPeer(t, behavior)
  const rowport = await startRowport(t, { settings: settingsFor(peer) })
  return { rowport, peer }
}

export async function signUp(rowport: Rowport, wish = ada): Promise<Visitor> {
  const visitor = createVisitor(rowport)
  const answer = await visitor.call('POST', '/sign-up', wish)
  if (answer.status !== 200) throw new Error(answer.text)
  return visitor
}

/** Signed up, and the address is shown to be theirs. */
export async function signUpVerified({ rowport, peer }: { rowport: Rowport; peer: SmtpPeer }, wish = ada) {
  const visitor = await signUp(rowport, wish)
  const token = tokenIn((await peer.next()).text)
  const answer = await visitor.call('POST', '/verify-email', { token })
  if (answer.status !== 200) throw new Error(answer.text)
  return visitor
}

export function tokenIn(text: string): string {
  const token = /\?token=([\w-]{43})$/m.exec(text)?.[1]
  if (token === undefined) throw new Error(`There is no link in: ${text}`)
  return token
}

/** Until it holds; what a server does by itself, it does within seconds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 20_000
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`It never became true: ${what}`)
    await sleep(50)
  }
}
