/** The client went away before it had sent everything, or while it waited: there is nobody left to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}
