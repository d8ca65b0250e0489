import type { IncomingMessage } from 'node:http'

/** Where whoever sent the request reaches this server: what absolute addresses in answers begin with. No slash at its end. */
export type OwnAddress = (request: Pick<IncomingMessage, 'headers'>) => string

/**
 * As the operator has set it. Where nothing is set, the name that the client itself used: a guess of ours would be wrong behind a
 * mapped port or another name of the machine, and nobody but who asked gets the answer.
 */
export function createOwnAddress(baseUrl: () => string, isSet: boolean): OwnAddress {
  if (isSet) return baseUrl
  return ({ headers: { host } }) =>
    host !== undefined && plainHost.test(host) ? `http://${host}` : baseUrl()
}

/** A name or an address, with or without a port: nothing that could end an address or a quoted text. */
const plainHost = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i
