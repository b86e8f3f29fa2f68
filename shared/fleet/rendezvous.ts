/**
 * Who of many is meant for something, without anybody keeping a table: all that know the same names
 * choose the same ones, and one name more or less moves nothing but what was or becomes its own.
 */
import { hash } from 'node:crypto'

export function rendezvous(subject: string, names: readonly string[], most: number): string[] {
  return names
    .map((name) => ({ name, weight: hash('sha256', `${subject}\n${name}`) }))
    .sort((a, b) => (a.weight < b.weight ? -1 : 1))
    .slice(0, most)
    .map(({ name }) => name)
}
