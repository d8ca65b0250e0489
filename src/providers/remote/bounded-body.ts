import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { ExchangeLost } from './transport.ts'

/** For `onBody`: an answer that is longer is given up as too large. */
export function boundPieces(
  maxBytes: number,
  inspectPiece?: (piece: Uint8Array) => void,
): (piece: Uint8Array) => void {
  let bytes = 0
  return (piece) => {
    bytes += piece.byteLength
    if (bytes > maxBytes) throw new ExchangeLost('too_large', `More than ${maxBytes} bytes`)
    inspectPiece?.(piece)
  }
}

export function isTooLarge(error: unknown): boolean {
  const cause = error instanceof ProviderFailure ? error.cause : null
  return cause instanceof ExchangeLost && cause.lost === 'too_large'
}
