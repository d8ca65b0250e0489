/** A secret as the store holds it, with the name of the key that opens it. */
export interface SealedSecret {
  sealed: string
  keyId: string
}
