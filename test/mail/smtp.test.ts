import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type MailSetting, parseConfig } from '../../src/config.ts'
import { createSmtpTransport } from '../../src/mail/smtp/smtp-transport.ts'
import { findProgram } from '../servers/find-program.ts'
import { freePort } from '../servers/free-port.ts'
import { peerCertificate, startSmtpPeer } from '../servers/smtp-peer.ts'

const skipTls = findProgram(['openssl']) ? false : 'openssl is not on this machine'

function settingFor(url: string, from = 'Rowport <rowport@example.com>'): MailSetting {
  const config = parseConfig({ SMTP_URL: url, MAIL_FROM: from }, false)
  if ('problems' in config || !config.mail) throw new Error('these settings are no good')
  return config.mail
}

const mail = {
  id: 'mail_1',
  to: 'ada@example.com',
  subject: 'Sheet “préis” is broken',
  text: 'A first line.\n.\n.. a line with dots, and – a dash\n\nhttp://rowport.test/reset-password?token=a=b\n',
}

test('a mail arrives as it was written, to whom it was meant for and nobody else', async (t) => {
  const peer = await startSmtpPeer(t)
  const transport = createSmtpTransport(settingFor(peer.url))
  assert.deepEqual(await transport.send(mail), { sent: true })
  const [got] = peer.mails
  assert.ok(got)
  assert.deepEqual([got.from, got.to, got.subject], ['rowport@example.com', mail.to, mail.subject])
  assert.equal(got.text.trimEnd(), mail.text.trimEnd())
  assert.equal(got.headers['message-id'], '<mail_1@example.com>')
  assert.equal(got.headers['auto-submitted'], 'auto-generated')
  assert.match(got.headers['content-type'] ?? '', /^text\/plain; charset=utf-8/)

  for (const to of ['ada@example.com, eve@example.com', 'ada@example.com\r\nRCPT TO:<eve@example.com>']) {
    await transport.send({ ...mail, to })
  }
  await transport.send({ ...mail, subject: 'Hello\r\nBcc: eve@example.com' })
  for (const one of peer.mails) {
    assert.ok(!one.to.split(' | ').includes('eve@example.com'), one.to)
    assert.equal(one.headers.bcc, undefined)
  }
})

test('a refusal for good is told from one for now, and from a server that is not there', async (t) => {
  const peer = await startSmtpPeer(t)
  const transport = createSmtpTransport(settingFor(peer.url), 500)
  const cases: [replies: Record<string, string>, refused: boolean, reason: string][] = [
    [{ RCPT: '550 5.1.1 ada@example.com is unknown' }, true, 'EENVELOPE 550'],
    [{ RCPT: '451 4.7.1 come back later' }, false, 'EENVELOPE 451'],
    [{ MAIL: '553 not from there' }, true, 'EENVELOPE 553'],
    [{ '.': '554 it looks like spam' }, true, 'EMESSAGE 554'],
    [{ '.': '452 the disk is full' }, false, 'EMESSAGE 452'],
    [{ EHLO: '421 too busy', HELO: '421 too busy' }, false, ''],
  ]
  for (const [replies, refused, reason] of cases) {
    peer.behavior = { replies }
    const outcome = await transport.send(mail)
    assert.ok(!outcome.sent, JSON.stringify(replies))
    assert.equal(outcome.refused, refused, `${JSON.stringify(replies)}: ${outcome.reason}`)
    if (reason !== '') assert.equal(outcome.reason, reason)
    assert.doesNotMatch(outcome.reason, /ada/)
  }
  assert.deepEqual(peer.mails, [])

  peer.behavior = { dropsAfterData: true }
  assert.equal((await transport.send(mail)).sent, false, 'nobody said that it was taken')
  peer.behavior = { slowMs: 120 }
  const begunMs = performance.now()
  assert.deepEqual(await transport.send(mail), { sent: false, refused: false, reason: 'ETIMEDOUT' })
  assert.ok(performance.now() - begunMs < 5_000, 'a server that says a word now and then is not waited for')
  const nobody = createSmtpTransport(settingFor(`smtp://127.0.0.1:${await freePort()}`))
  const outcome = await nobody.send(mail)
  assert.ok(!outcome.sent && !outcome.refused)
  assert.match((await nobody.check()) ?? '', /ECONNREFUSED/)
})

test('a wrong password is no reason to give a mail up, and is told by the check', async (t) => {
  const peer = await startSmtpPeer(t, { login: { user: 'mailer@example.com', password: 'p/w %' } })
  const at = (login: string) => createSmtpTransport(settingFor(`smtp://${login}@127.0.0.1:${peer.port}`))
  const right = at('mailer%40example.com:p%2Fw%20%25')
  assert.equal(await right.check(), null)
  assert.deepEqual(await right.send(mail), { sent: true })
  assert.equal(peer.mails[0]?.user, 'mailer@example.com')
  const wrong = at('mailer%40example.com:guess')
  assert.deepEqual(await wrong.send(mail), { sent: false, refused: false, reason: 'EAUTH 535' })
  assert.match((await wrong.check()) ?? '', /535/)
  // A server that forgot how to sign anybody in must not get the mail without.
  peer.behavior = {}
  assert.equal((await at('a:b').send(mail)).sent, false)
})

test('beyond this machine nothing is sent without TLS, nor to a certificate that nobody vouches for', {
  skip: skipTls,
}, async (t) => {
  // For the system the same as 127.0.0.1; for Rowport an address like any other.
  const elsewhere = (port: number, scheme = 'smtp') =>
    createSmtpTransport(settingFor(`${scheme}://0.0.0.0:${port}`), 5_000)
  const plain = await startSmtpPeer(t)
  assert.equal((await elsewhere(plain.port).send(mail)).sent, false)
  const upgrading = await startSmtpPeer(t, { tls: 'starttls' })
  const wrapped = await startSmtpPeer(t, { tls: 'from the start' })
  assert.equal((await elsewhere(upgrading.port).send(mail)).sent, false)
  assert.equal((await elsewhere(wrapped.port, 'smtps').send(mail)).sent, false)
  assert.deepEqual([...plain.mails, ...upgrading.mails, ...wrapped.mails], [])

  const usual = getCACertificates('default')
  setDefaultCACertificates([...usual, peerCertificate().cert])
  t.after(() => setDefaultCACertificates(usual))
  assert.deepEqual(await elsewhere(upgrading.port).send(mail), { sent: true })
  assert.deepEqual(await elsewhere(wrapped.port, 'smtps').send(mail), { sent: true })
  assert.deepEqual(
    [...upgrading.mails, ...wrapped.mails].map(({ isEncrypted }) => isEncrypted),
    [true, true],
  )
})
