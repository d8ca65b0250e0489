/**
 * The store's part for instances that work on it together: what only one of them may do at a time, and which of them
 * live. Time is the store's own, so that two machines whose clocks differ agree on what has expired.
 */
export interface LeaseStore {
  /** This process, among all on the same store. */
  readonly instanceId: string
  /**
   * Null while another has it. Whoever asked in vain is noted as the next for `wantForMs`, and until then nobody else
   * gets it: one who gives it up and asks again waits behind those who waited.
   */
  takeLease(name: string, forMs: number, wantForMs: number): Promise<Lease | null>
  /** False when it is no longer ours. */
  renewLease(lease: Lease, forMs: number): Promise<boolean>
  endLease(lease: Lease): Promise<void>

  /** This instance lives, and works on the operations that it has begun; to be repeated before `forMs` are over. */
  stayAlive(forMs: number): Promise<void>
  /** This instance works on nothing any more: others need not wait until its time is over. */
  endInstance(): Promise<void>
  /** Ends what instances of this machine held that were killed, so that nobody waits for them. */
  endDeadNeighbours(): Promise<void>
  /** How many live. */
  livingInstances(): Promise<number>
  /** Forgets what expired long ago. */
  forgetOldLeases(expiredForMs: number): Promise<void>
}

export interface Lease {
  name: string
  /** Another number each time that the lease changes hands. */
  fencingToken: number
}
