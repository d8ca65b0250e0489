/** A list of about 20 KB of JSON. */
export function twentyKilobytes(): string {
  const rows = Array.from(
    { length: 140 },
    (_, n) =>
      `Product number ${n},Category ${n % 7},${((n * 37) % 1_000) / 4},${n % 3 ? 'TRUE' : 'FALSE'},"Some words, ${n}"`,
  )
  return `name,category,price,in_stock,a note about the product\n${rows.join('\n')}\n`
}

/** 100,000 × 10, about 20 MB of JSON. */
export function hundredThousandRows(): string {
  const lines = ['id,name,category,price,in_stock,created,city,email,a note about the product,count']
  for (let n = 0; n < 100_000; n++) {
    lines.push(
      `${n},Product number ${n},Category ${n % 7},${((n * 7_919) % 100_000) / 100},${n % 3 ? 'TRUE' : 'FALSE'},` +
        `2026-11-${10 + (n % 20)}T09:30:00,City ${n % 50},user${n}@example.com,"Some words, ${n}",${n % 97}`,
    )
  }
  return `${lines.join('\n')}\n`
}
