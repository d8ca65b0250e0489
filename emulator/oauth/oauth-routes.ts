import { jsonReply, oauthHeaders, type Reply } from '../http/reply.ts'
import { authorize } from './authorization-endpoint.ts'
import { jsonWebKeys, pemCertificates } from './id-token.ts'
import type { OAuthState } from './oauth-state.ts'
import { exchangeToken } from './token-endpoint.ts'
import { revokeToken, tokenInfo, userInfo } from './token-questions.ts'

export interface OAuthRequest {
  method: string
  /** Parameters of the query and of a form in the body. */
  parameters: URLSearchParams
  authorization: string
  /** Where the caller found us. */
  origin: string
}

type Route = (state: OAuthState, request: OAuthRequest) => Reply

const token: Route = (state, { parameters, authorization, origin }) =>
  exchangeToken(state, parameters, authorization, origin)
const info: Route = (state, { parameters, authorization }) => tokenInfo(state, parameters, authorization)
const person: Route = (state, { parameters, authorization }) => userInfo(state, parameters, authorization)
const authorization: Route = (state, { method, parameters }) => authorize(state, method, parameters)
const revoke: Route = (state, { parameters }) => revokeToken(state, parameters)

/** Google spreads these over four hosts and several ages of paths; here they share one root. */
const routes: Record<string, { methods: string[]; answer: Route }> = {
  '/o/oauth2/v2/auth': { methods: ['GET', 'POST'], answer: authorization },
  '/o/oauth2/auth': { methods: ['GET', 'POST'], answer: authorization },
  '/token': { methods: ['POST'], answer: token },
  '/oauth2/v4/token': { methods: ['POST'], answer: token },
  '/revoke': { methods: ['GET', 'POST'], answer: revoke },
  '/o/oauth2/revoke': { methods: ['GET', 'POST'], answer: revoke },
  '/tokeninfo': { methods: ['GET', 'POST'], answer: info },
  '/oauth2/v3/tokeninfo': { methods: ['GET', 'POST'], answer: info },
  '/userinfo': { methods: ['GET', 'POST'], answer: person },
  '/v1/userinfo': { methods: ['GET', 'POST'], answer: person },
  '/oauth2/v3/userinfo': { methods: ['GET', 'POST'], answer: person },
  '/oauth2/v1/certs': { methods: ['GET'], answer: () => jsonReply(200, pemCertificates(), oauthHeaders) },
  '/oauth2/v3/certs': { methods: ['GET'], answer: () => jsonReply(200, jsonWebKeys(), oauthHeaders) },
}

export function findOAuthRoute(method: string, path: string): Route | undefined {
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined
  return route?.methods.includes(method) ? route.answer : undefined
}
