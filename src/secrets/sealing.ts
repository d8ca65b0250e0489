import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** Keeps what must be read again, such as a provider's tokens, unreadable and unchangeable in the store. */
export interface Sealing {
  /** Names the key that seals; it is kept beside what was sealed, so that the key can be replaced. */
  keyId: string
  /** `identity` says where it will be kept. It is not secret, but under another identity it does not open. */
  seal(text: string, identity: string): string
  /** null: a key that is not known here, a changed byte, or moved from another row. */
  open(sealed: string, keyId: string, identity: string): string | null
  /** A digest that is the same for the same text wherever the secret is known, and not to be foretold anywhere else. */
  digest(text: string): Buffer
  /** Whether what this key sealed can be opened here. */
  knows(keyId: string): boolean
  /** Whether it is a key whose day is over: what it sealed is to be sealed anew. */
  isFormer(keyId: string): boolean
}

const cipher = 'aes-256-gcm'
const keyBytes = 32
/** NIST SP 800-38D: 96 bits, the length for which a random nonce is used as it is. */
const nonceBytes = 12
const tagBytes = 16
const form = 'v1'
/** Part of every key: another text here, and nothing that was ever sealed opens again. */
const derivationInfo = 'rowport sealing v1'
const keyIdDigits = 12
const digestInfo = 'rowport digest v1'

/**
 * `formerSecrets` still open what they sealed, until it is sealed anew. `nextSecret` opens what others seal with it
 * already; to seal that anew here would undo it.
 */
export function createSealing(
  secret: string,
  formerSecrets: readonly string[],
  nextSecret: string | null = null,
): Sealing {
  const current = deriveKey(secret)
  const digestKey = Buffer.from(hkdfSync('sha256', secret, '', digestInfo, keyBytes))
  const former = formerSecrets.map(deriveKey)
  const next = nextSecret === null ? [] : [deriveKey(nextSecret)]
  const keys = new Map([...former, ...next, current].map(({ id, key }) => [id, key]))
  const formerIds = new Set(former.map(({ id }) => id))

  return {
    keyId: current.id,
    seal(text, identity) {
      const nonce = randomBytes(nonceBytes)
      const sealing = createCipheriv(cipher, current.key, nonce, { authTagLength: tagBytes })
      sealing.setAAD(Buffer.from(identity))
      const body = Buffer.concat([sealing.update(text, 'utf8'), sealing.final(), sealing.getAuthTag()])
      return `${form}.${nonce.toString('base64url')}.${body.toString('base64url')}`
    },
    open(sealed, keyId, identity) {
      const key = keys.get(keyId)
      const parts = partsOf(sealed)
      if (!key || !parts) return null
      const opening = createDecipheriv(cipher, key, parts.nonce, { authTagLength: tagBytes })
      opening.setAAD(Buffer.from(identity))
      opening.setAuthTag(parts.tag)
      try {
        return opening.update(parts.encrypted, undefined, 'utf8') + opening.final('utf8')
      } catch {
        return null
      }
    },
    digest: (text) => createHmac('sha256', digestKey).update(text).digest(),
    knows: (keyId) => keys.has(keyId),
    isFormer: (keyId) => formerIds.has(keyId) && keyId !== current.id,
  }
}

function deriveKey(secret: string): { id: string; key: Buffer } {
  const key = Buffer.from(hkdfSync('sha256', secret, '', derivationInfo, keyBytes))
  return { id: createHash('sha256').update(key).digest('hex').slice(0, keyIdDigits), key }
}

function partsOf(sealed: string): { nonce: Buffer; encrypted: Buffer; tag: Buffer } | null {
  const [givenForm, nonceText = '', bodyText = '', ...rest] = sealed.split('.')
  const nonce = Buffer.from(nonceText, 'base64url')
  const body = Buffer.from(bodyText, 'base64url')
  // Node's decoder skips what is not base64 and drops spare bits: only the one text that we would write is taken.
  const isAsWritten = nonce.toString('base64url') === nonceText && body.toString('base64url') === bodyText
  if (givenForm !== form || rest.length > 0 || !isAsWritten) return null
  if (nonce.length !== nonceBytes || body.length < tagBytes) return null
  const tagAt = body.length - tagBytes
  return { nonce, encrypted: body.subarray(0, tagAt), tag: body.subarray(tagAt) }
}
