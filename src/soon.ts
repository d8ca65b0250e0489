/** A value that may be there already: what memory answers at once, another server answers later. */
export type Soon<T> = T | Promise<T>

/** Goes on with a value, now if it is there: on the hot path a promise for each small step costs more than the step. */
export function then<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
