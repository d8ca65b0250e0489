/**
 * What all migrations together make of an empty SQLite, as statements: a new store takes a few milliseconds then, and not the time
 * of every step that Rowport ever took. The package has them, made of the migrations when it is built
 * (scripts/package/schema-of-migrations.ts); null in a clone, where a new store takes the steps.
 */
export const preparedSchema: readonly string[] | null = null
