interface Meant {
  clientId: string
  nonce: string
  email: string
  nowSeconds: number
}

const spoilers: Record<string, (claims: Record<string, unknown>) => Record<string, unknown>> = {
  'as it is': (claims) => claims,
  'for another app': (claims) => ({ ...claims, aud: 'another.apps.googleusercontent.com' }),
  'for several': (claims) => ({ ...claims, aud: [claims.aud] }),
  'of somebody else': (claims) => ({ ...claims, iss: 'https://accounts.evil.test' }),
  'of an earlier day': (claims) => ({ ...claims, exp: Number(claims.exp) - 3_601 }),
  'without an end': ({ exp, ...claims }) => claims,
  'of another attempt': (claims) => ({ ...claims, nonce: 'another' }),
  'of no attempt': ({ nonce, ...claims }) => claims,
}

export const idTokenCases = Object.keys(spoilers)

/** ID tokens of Google's that say nothing, for this one is not meant by them; and one, "as it is", that does. */
export function spoiledIdTokens({ clientId, nonce, email, nowSeconds }: Meant): Record<string, string> {
  const claims = {
    ...{ iss: 'https://accounts.google.com', aud: clientId, sub: '1234567890', email, email_verified: true },
    ...{ nonce, exp: nowSeconds + 3_600 },
  }
  const tokens = Object.entries(spoilers).map(([what, spoil]) => {
    const parts = [{ alg: 'RS256' }, spoil(claims), 'signature']
    return [what, parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')]
  })
  return Object.fromEntries(tokens)
}
