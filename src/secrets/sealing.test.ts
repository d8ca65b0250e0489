import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSealing } from './sealing.ts'

const secret = 'the secret of today'
const formerSecret = 'the secret of yesterday'
const token = '1//a refresh token, with ünïcode 🔑'
const identity = 'credential|acc_1|cr_1|1'

test('what was sealed opens again, and shows nothing of itself', () => {
  const sealing = createSealing(secret, [])
  for (const text of [token, '', 'x', 'y'.repeat(10_000)]) {
    const sealed = sealing.seal(text, identity)
    assert.match(sealed, /^v1\.[\w-]{16}\.[\w-]{22,}$/)
    assert.equal(sealing.open(sealed, sealing.keyId, identity), text)
  }
  const sealed = sealing.seal(token, identity)
  assert.ok(!Buffer.from(sealed.split('.')[2] ?? '', 'base64url').includes('refresh'))
  assert.notEqual(sealing.seal(token, identity), sealed, 'a nonce of its own each time')
})

test('any flipped bit of the stored text is refused (R22)', () => {
  const sealing = createSealing(secret, [])
  // Three lengths: only some leave spare bits at the end of the base64, where a flip would decode to the same bytes.
  for (const text of [token, `${token}.`, `${token}..`]) {
    const sealed = sealing.seal(text, identity)
    for (let at = 0; at < sealed.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = withFlippedBit(sealed, at, bit)
        assert.equal(sealing.open(flipped, sealing.keyId, identity), null, `bit ${bit} of character ${at}`)
      }
    }
  }
})

test('text that another program might take for the same base64 is refused', () => {
  const sealing = createSealing(secret, [])
  const sealed = sealing.seal(token, identity)
  const [form, nonce, body] = sealed.split('.')
  for (const wrong of [
    '',
    'v1',
    'v1..',
    `${sealed}=`,
    `${sealed} `,
    `${sealed}.`,
    `${sealed}.${body}`,
    `${form}.${nonce}`,
    `${form}.${nonce}.`,
    `${form}.${nonce}.${body?.slice(0, 20)}`,
    `${form}..${body}`,
    `${form}.${nonce?.slice(0, 8)}.${body}`,
    `${form}.${nonce}${nonce}.${body}`,
    `v2.${nonce}.${body}`,
    sealed.slice(0, -1),
    sealed.slice(0, -4),
  ]) {
    assert.equal(sealing.open(wrong, sealing.keyId, identity), null, JSON.stringify(wrong))
  }
})

test('a token that was moved to another row is refused', () => {
  const sealing = createSealing(secret, [])
  const other = 'credential|acc_2|cr_2|1'
  const [mine, theirs] = [sealing.seal(token, identity), sealing.seal('theirs', other)]
  assert.equal(sealing.open(mine, sealing.keyId, other), null)
  assert.equal(sealing.open(theirs, sealing.keyId, identity), null)
  assert.equal(sealing.open(mine, sealing.keyId, ''), null)
  assert.equal(sealing.open(theirs, sealing.keyId, other), 'theirs')
})

test('a former secret still opens what it sealed, and seals nothing more', () => {
  const yesterday = createSealing(formerSecret, [])
  const old = yesterday.seal(token, identity)
  const today = createSealing(secret, ['one of long ago, too', formerSecret])
  assert.match(today.keyId, /^[0-9a-f]{12}$/)
  assert.notEqual(today.keyId, yesterday.keyId)
  assert.equal(today.open(old, yesterday.keyId, identity), token)
  const renewed = today.seal(token, identity)
  assert.equal(yesterday.open(renewed, today.keyId, identity), null, 'the old key alone no longer opens it')
  assert.equal(createSealing(secret, []).open(renewed, today.keyId, identity), token)
})

test('the next secret opens what others seal with it already; only what a former one sealed is to be sealed anew', () => {
  const nextSecret = 'the secret of tomorrow'
  const today = createSealing(secret, [formerSecret], nextSecret)
  const [yesterday, tomorrow] = [createSealing(formerSecret, []), createSealing(nextSecret, [])]
  assert.equal(today.open(tomorrow.seal(token, identity), tomorrow.keyId, identity), token)
  assert.equal(
    tomorrow.open(today.seal(token, identity), today.keyId, identity),
    null,
    'it seals nothing yet',
  )
  assert.equal(today.isFormer(yesterday.keyId), true)
  for (const keyId of [today.keyId, tomorrow.keyId, createSealing('of somebody else', []).keyId, '']) {
    assert.equal(today.isFormer(keyId), false)
  }
  assert.equal(createSealing(secret, [secret]).isFormer(today.keyId), false)
})

test('an unknown key, or another one than the text was sealed with, is refused', () => {
  const today = createSealing(secret, [formerSecret])
  const yesterday = createSealing(formerSecret, [])
  const sealed = today.seal(token, identity)
  assert.equal(createSealing('some other secret', []).open(sealed, today.keyId, identity), null)
  assert.equal(today.open(sealed, yesterday.keyId, identity), null)
  assert.equal(today.open(sealed, '', identity), null)
})

test('what was sealed by the first version opens for ever', () => {
  const sealing = createSealing('a secret that never changes', [])
  assert.equal(sealing.keyId, 'bac47f2ff5b2')
  assert.equal(
    sealing.open('v1.HU5nugZUEOXsvGru.IgeCt9dvh5t5lWW7qB3R4DMQzoo', sealing.keyId, 'row 1'),
    'kept',
  )
})

function withFlippedBit(text: string, at: number, bit: number): string {
  const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit))
  return text.slice(0, at) + flipped + text.slice(at + 1)
}
