import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { test } from 'node:test'
import { processorMs } from '../../../test/processor-time.ts'
import { createPasswords } from './passwords.ts'

test('a password is right for its own hash and for no other, and its hash says how it was made', async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash('correct horse battery')
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  assert.notEqual(stored, await passwords.hash('correct horse battery'))
  assert.deepEqual(await passwords.check('correct horse battery', stored), {
    isRight: true,
    isOutdated: false,
  })
  assert.deepEqual(await passwords.check('correct horse batterx', stored), {
    isRight: false,
    isOutdated: false,
  })
})

test('composed and decomposed letters are one password', async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash('caf\u00e9 au lait')
  const check = await passwords.check('cafe\u0301 au lait', stored)
  assert.deepEqual(check, { isRight: true, isOutdated: false })
})

test('nobody is never right, and costs as much as somebody', async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash('correct horse battery')
  const workFor = (known: string | null) =>
    processorMs(async () =>
      assert.deepEqual(await passwords.check('a wrong password', known), {
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

test('a flood is refused instead of queued without end', async () => {
  const passwords = createPasswords()
  const answers = await Promise.all(Array.from({ length: 30 }, () => passwords.check('x', null)))
  assert.equal(answers.filter((answer) => answer === 'busy').length, 30 - 22)
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
  const check = await createPasswords().check('some password', stored)
  assert.deepEqual(check, { isRight: true, isOutdated: true })
})
