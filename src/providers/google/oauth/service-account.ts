import { createPrivateKey, type KeyObject, sign, type webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import type { ConnectionProblem, Grant } from '../../../sheets/connection.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { fieldsOf, textOf } from '../../remote/json-fields.ts'
import { createGoogleTime } from '../client/google-time.ts'
import { scopeUrl } from './google-consent.ts'
import { problemOfFailure, type TokenRefusal } from './oauth-problem.ts'
import { createTokenEndpoint, type TokenEndpointParts } from './token-endpoint.ts'

/** An account of a project at Google and of no person: its key is all that it takes, and it opens what is shared with its address. */
export interface ServiceAccounts {
  /** `keyFile`: the JSON as Google's console gives it. Tried once, so that no key is kept that Google does not take. */
  exchangeKey(keyFile: string): Promise<Grant | ConnectionProblem>
  /** As `TokenSource.refresh`, for a token of `exchangeKey`. */
  refresh(token: string): Promise<{ accessToken: string; expiresInSeconds: number } | { dead: string }>
}

/** What is kept of a key file. */
interface ServiceAccountKey {
  client_email: string
  private_key_id: string
  private_key: string
}

/** Reading and writing cells; and the names of what was shared, to choose from. */
const scopes = [scopeUrl('spreadsheets'), scopeUrl('drive.metadata.readonly')]
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** Google's have 2,048. To sign takes time that grows with the third power of it. */
const mostKeyBits = 4_096
/** By a thread of Node's: anybody can make up a key. */
const signAside = promisify(sign)
/**
 * One after the other: files are read and written by the same four threads, and a key whose parts do not fit is signed with twice,
 * the second time in a way that takes five times as long.
 */
let lastSigned: Promise<unknown> = Promise.resolve()

function signInTurn(text: string, privateKey: string): Promise<Buffer> {
  const signed = lastSigned.then(() => signAside('sha256', Buffer.from(text), privateKey))
  lastSigned = signed.catch(() => {})
  return signed
}

/** Google takes no assertion that is good for longer. */
const lifeSeconds = 3_600

/** An address of Google's own: no person has one. */
export function isServiceAccount(subject: string | null): boolean {
  return subject?.endsWith('.gserviceaccount.com') ?? false
}

/** A key file is JSON, and no refresh token of Google's begins like that. */
export function isServiceAccountToken(token: string): boolean {
  return token.startsWith('{')
}

export function createServiceAccounts(parts: TokenEndpointParts): ServiceAccounts {
  const { endpoints, clock } = parts
  const endpoint = createTokenEndpoint(parts)
  // Of its own: the clock of the spreadsheets' host says how old markers are, and this is another host.
  const time = createGoogleTime(clock)

  return {
    async exchangeKey(keyFile) {
      const key = readKeyFile(keyFile)
      if ('problem' in key) return key
      try {
        const given = await ask(key)
        if ('refused' in given) return notTaken(given.refused)
        const { client_email: address } = key
        return { token: JSON.stringify(key), scopes, subject: address, label: address }
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error
        return { problem: 'failed', words: problemOfFailure(error).words }
      }
    },

    async refresh(token) {
      const key = readKeyFile(token)
      if ('problem' in key) return { dead: key.words }
      const given = await ask(key)
      if (!('refused' in given)) return given
      const { error, description } = given.refused
      if (isOver(given.refused)) return { dead: `${error}: ${description}` }
      throw refusedByGoogle(given.refused)
    },
  }

  /** Where this machine's clock is wrong, the second try goes by Google's. */
  async function ask(key: ServiceAccountKey) {
    const askedAtMs = clock.elapsedMs()
    const first = await endpoint.askToken(await formOf(key))
    if (!('refused' in first) || !isAboutTime(first.refused)) return first
    time.hear(first.date, askedAtMs)
    return endpoint.askToken(await formOf(key))
  }

  async function formOf(key: ServiceAccountKey): Promise<Record<string, string>> {
    const issuedAt = Math.floor((time.nowMs() ?? clock.nowMs()) / 1_000)
    const claims = {
      iss: key.client_email,
      scope: scopes.join(' '),
      // Never what the file says: it comes from outside, and the assertion opens what is shared with the account.
      aud: endpoints.token,
      iat: issuedAt,
      exp: issuedAt + lifeSeconds,
    }
    const unsigned = [{ alg: 'RS256', typ: 'JWT', kid: key.private_key_id }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const signature = await signInTurn(unsigned, key.private_key)
    return { grant_type: jwtBearer, assertion: `${unsigned}.${signature.toString('base64url')}` }
  }
}

function readKeyFile(text: string): ServiceAccountKey | ConnectionProblem {
  const fields = fieldsOf(parseKeyFile(text))
  if (fields.type !== undefined && fields.type !== 'service_account')
    return keyProblem(
      `That is a file of another kind (“${String(fields.type).slice(0, 40)}”); the key of a service account is needed.`,
    )
  const address = textOf(fields.client_email)
  const keyId = textOf(fields.private_key_id)
  const privateKey = textOf(fields.private_key)
  if (!address || !keyId || !privateKey)
    return keyProblem(
      'That is not the key of a service account. Paste all of the JSON file that Google lets you download.',
    )
  if (!isServiceAccount(address) || rsaKey(privateKey) === null)
    return keyProblem(
      'The key in that file cannot be used. Download a new one from Google and paste all of it.',
    )
  return { client_email: address, private_key_id: keyId, private_key: privateKey }
}

function parseKeyFile(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function rsaKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem)
    const { modulusLength = Number.POSITIVE_INFINITY } = key.asymmetricKeyDetails ?? {}
    const isRsa = key.asymmetricKeyType === 'rsa' && modulusLength <= mostKeyBits
    return isRsa && isWellMade(key.export({ format: 'jwk' }), modulusLength) ? key : null
  } catch {
    return null
  }
}

/** With primes as long as the modulus, or parts that belong to other ones, to sign takes ten times as long and more. */
function isWellMade(parts: webcrypto.JsonWebKey, modulusLength: number): boolean {
  const [n, d, p, q, dp, dq, qi] = (['n', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const).map((name) =>
    BigInt(`0x0${Buffer.from(parts[name] ?? '', 'base64url').toString('hex')}`),
  ) as [bigint, bigint, bigint, bigint, bigint, bigint, bigint]
  const isHalf = (prime: bigint) => prime > 2n && prime >> BigInt(Math.ceil(modulusLength / 2) + 1) === 0n
  if (!isHalf(p) || !isHalf(q) || p * q !== n) return false
  return d < n && d % (p - 1n) === dp && d % (q - 1n) === dq && (q * qi) % p === 1n
}

function keyProblem(words: string): ConnectionProblem {
  return { problem: 'failed', words }
}

function isAboutTime({ error, description }: TokenRefusal): boolean {
  return error === 'invalid_grant' && /\biat\b|\bexp\b|timeframe/.test(description)
}

/** The key was deleted, or the account: no later try helps. */
function isOver({ error, description }: TokenRefusal): boolean {
  return error === 'invalid_grant' && /Invalid JWT Signature|account not found/i.test(description)
}

function notTaken(refusal: TokenRefusal): ConnectionProblem {
  if (isOver(refusal))
    return keyProblem(
      'Google no longer knows this key: the key or its service account was deleted. Nothing was saved. Create a new key.',
    )
  const { message, facts } = refusedByGoogle(refusal)
  return keyProblem(`${message}. ${facts.details ?? ''} Nothing was saved.`)
}

/** Whatever it is, the key may be as good as ever. */
function refusedByGoogle(refusal: TokenRefusal): ProviderFailure {
  const { error, description } = refusal
  return new ProviderFailure('Google gives the service account no access', {
    details: isAboutTime(refusal)
      ? 'The clock of this server is wrong. Ask your administrator to set it.'
      : `Google says: ${error} ${description}`.trim(),
    cause: new Error(`${error}: ${description}`),
  })
}
