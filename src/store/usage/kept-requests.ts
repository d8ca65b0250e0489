/*
 * How far back the log of a sheet's requests goes: so many in all, and of those that come at once only the newest, so that a busy
 * sheet writes no more of them than a hundred at a time. The dashboard says both.
 */
export const keptRequests = 500
export const keptOfBurst = 100
/** What is counted in memory is written this often, so this is what "at once" means. */
export const burstSeconds = 10
