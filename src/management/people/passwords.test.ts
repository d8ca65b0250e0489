import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { test } from 'node:test'
import { processorMs } from '../../../test/processor-time.ts'
import { systemClock } from '../../clock.ts'
import { defaultShares } from '../../shares/shares.ts'
import { createPasswords } from './passwords.ts'

test('a password is right for its own hash and for no other, and its hash says how it was made', async () => {
  const passwords = started()
  const stored = await passwords.hash('correct horse battery', home)
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  assert.notEqual(stored, await passwords.hash('correct horse battery', home))
  assert.deepEqual(await passwords.check('correct horse battery', stored, home), {
    isRight: true,
    isOutdated: false,
  })
  assert.deepEqual(await passwords.check('correct horse batterx', stored, home), {
    isRight: false,
    isOutdated: false,
  })
})

test('composed and decomposed letters are one password', async () => {
  const passwords = started()
  const stored = await passwords.hash('caf\u00e9 au lait', home)
  const check = await passwords.check('cafe\u0301 au lait', stored, home)
  assert.deepEqual(check, { isRight: true, isOutdated: false })
})

test('nobody is never right, and costs as much as somebody', async () => {
  const passwords = started()
  const stored = await passwords.hash('correct horse battery', home)
  const workFor = (known: string | null) =>
    processorMs(async () =>
      assert.deepEqual(await passwords.check('a wrong password', known, home), {
        isRight: false,
        isOutdated: false,
      }),
    )
  const rounds = 4
  let somebodyMs = 0
  let nobodyMs = 0
  for (let round = 0; round < rounds; round++) {
    somebodyMs += await workFor(stored)
    nobodyMs += await workFor(null)
  }
  assert.ok(nobodyMs > somebodyMs / 3 && nobodyMs < somebodyMs * 3, `${nobodyMs} ms, ${somebodyMs} ms`)
})

test('a flood from one network is refused instead of queued without end', async () => {
  const passwords = started()
  const answers = await Promise.all(Array.from({ length: 30 }, () => passwords.check('x', null, 'flood')))
  const admitted = 1 + defaultShares.sign_ins_waiting
  assert.equal(answers.filter((answer) => answer === 'busy').length, 30 - admitted)
})

test('a flood from many networks keeps nobody out, who comes from elsewhere', async () => {
  const passwords = started()
  const networks = 8
  let checked = 0
  const flood = Array.from({ length: networks * 5 }, async (_, at) => {
    if ((await passwords.check('x', null, `network ${at % networks}`)) !== 'busy') checked++
  })
  const answer = await passwords.check('x', null, home)
  assert.deepEqual(answer, { isRight: false, isOutdated: false })
  assert.ok(checked <= networks + 2, `${checked} were checked before`)
  await Promise.all(flood)
})

test('a hash by weaker settings is right and outdated', async () => {
  const nonce = Buffer.from('sixteen bytes ok')
  const message = Buffer.from('some password')
  const tag = argon2Sync('argon2id', {
    message,
    nonce,
    parallelism: 1,
    tagLength: 32,
    memory: 8_192,
    passes: 1,
  })
  const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  const stored = `$argon2id$v=19$m=8192,t=1,p=1$${text(nonce)}$${text(tag)}`
  const check = await started().check('some password', stored, home)
  assert.deepEqual(check, { isRight: true, isOutdated: true })
})

const home = '192.0.2.1'

function started() {
  return createPasswords({ shares: defaultShares, clock: systemClock, observe: () => {} })
}
