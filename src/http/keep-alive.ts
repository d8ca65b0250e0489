/**
 * How long a connection is kept between two requests. Answers say so: Node's own client, and others, would else give it up after four
 * seconds.
 */
export const keepAliveMs = 65_000
