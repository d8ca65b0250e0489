/**
 * The provider could not do what was asked: file gone, not a spreadsheet, Google away.
 * `message` reaches the client inside SPEC's `google_api_error`, so it names what the owner can do about it
 * and never a path, a token or a stack; `cause` keeps the rest for the log.
 */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
}
