/** Tries everything that a sign-in will need, step by step, and says of each what came of it. */
import { LIMITS } from '../../shared/limits.ts'
import { fold } from '../accounts/login-keys.ts'
import type { Addresses } from './addresses.ts'
import { openConnection, type DirectoryConnection } from './connection.ts'
import { DirectoryFault } from './faults.ts'
import { KNOWN_KINDS } from './hashes/hash-formats.ts'
import { describeShape, type HashShape } from './hashes/hash-shapes.ts'
import { isProblem, maskedSample, readRow, type Found } from './person.ts'
import { chosenColumns, type DirectoryTarget } from './settings.ts'

export const STEPS = [
  'connect',
  'read_only',
  'query',
  'columns',
  'look_up',
  'person',
  'hash',
] as const
export type Step = (typeof STEPS)[number]

interface StepResult {
  readonly step: Step
  /** `skip`: not reached, or nobody to try it with. */
  readonly status: 'pass' | 'fail' | 'skip'
  readonly detail: string
}

export interface DryRun {
  readonly steps: readonly StepResult[]
  /** The first thing that is wrong; undefined if a sign-in would work as far as could be tried. */
  readonly refusal: { readonly field: string; readonly detail: string } | undefined
  readonly sample: ReturnType<typeof maskedSample>
  readonly shape: HashShape | undefined
}

/** What is tried where no login is given: the query runs, and finds nobody. */
const NOBODY = 'nobody@directory.invalid'

class Failed extends Error {
  readonly field: string
  constructor(field: string, detail: string) {
    super(detail)
    this.field = field
  }
}

export async function dryRun(
  target: DirectoryTarget,
  addresses: Addresses,
  login?: string,
): Promise<DryRun> {
  const results: StepResult[] = []
  let refusal: DryRun['refusal']
  let found: Found | undefined
  let connection: DirectoryConnection | undefined

  async function step<T>(name: Step, work: () => Promise<T>, passed: (result: T) => string) {
    try {
      const result = await work()
      results.push({ step: name, status: 'pass', detail: passed(result) })
      return result
    } catch (error) {
      const { field, detail } = asFailure(error)
      results.push({ step: name, status: 'fail', detail })
      refusal = { field, detail }
      throw error
    }
  }

  try {
    connection = await step(
      'connect',
      () => openConnection(target, addresses),
      () => `Connected${target.tls === 'off' ? ', without TLS' : ' over TLS'}.`,
    )
    const open = connection
    await step(
      'read_only',
      () => requireReadOnly(open),
      () => 'The database keeps this connection read-only.',
    )
    const columns = await step(
      'query',
      () => open.columns(),
      (names) => `The query gives ${names.length} columns.`,
    )
    await step(
      'columns',
      async () => requireColumns(target, columns),
      () => 'Every column that is named is there.',
    )
    found = await step(
      'look_up',
      () => lookUp(open, target, login),
      (one) =>
        one === undefined
          ? 'The query runs. Set "login" to test it with a user.'
          : 'The query finds exactly one person.',
    )
    if (found !== undefined) {
      const { hash } = found
      await step(
        'person',
        async () => requirePerson(found),
        () => 'The row describes a person.',
      )
      await step(
        'hash',
        async () => requireHash(found),
        () => `The password is kept as ${hash === undefined ? '' : describeShape(hash.shape)}.`,
      )
    }
  } catch (error) {
    if (refusal === undefined) throw error
  } finally {
    connection?.close()
  }
  return {
    steps: STEPS.map((name) => results.find((one) => one.step === name) ?? skipped(name)),
    refusal,
    sample: found === undefined ? null : maskedSample(found),
    shape: found?.hash?.shape,
  }
}

const skipped = (step: Step): StepResult => ({ step, status: 'skip', detail: 'Not tried.' })

function asFailure(error: unknown): { field: string; detail: string } {
  if (error instanceof DirectoryFault) return error
  if (error instanceof Failed) return { field: error.field, detail: error.message }
  throw error
}

async function requireReadOnly(connection: DirectoryConnection) {
  if (!(await connection.isReadOnly())) throw new DirectoryFault('not_read_only')
}

function requireColumns({ columns }: DirectoryTarget, there: readonly string[]) {
  for (const { role, column } of chosenColumns(columns)) {
    const count = there.filter((name) => name === column).length
    if (count > 1) throw new DirectoryFault('column_twice')
    if (count === 0) throw new Failed('columns', missingColumn(role, column, there))
  }
}

function missingColumn(role: string, column: string, there: readonly string[]): string {
  const list = there.join(', ').slice(0, LIMITS.directoryMessageCharactersMax)
  return `"columns.${role}" names "${column}", which the query does not give. It gives: ${list}.`
}

async function lookUp(
  connection: DirectoryConnection,
  { columns }: DirectoryTarget,
  login?: string,
): Promise<Found | undefined> {
  const [first, ...others] = await connection.find(fold(login ?? NOBODY))
  if (others.length > 0)
    throw new Failed(
      'query',
      'The query finds more than one row for this login. It must name one person at most.',
    )
  if (first !== undefined) return readRow(first, columns)
  if (login === undefined) return undefined
  throw new Failed(
    'login',
    'The query finds no user with this login. It receives the login in lower case, without leading or trailing spaces.',
  )
}

function requirePerson(found: Found | undefined) {
  if (found === undefined || !isProblem(found.person)) return
  const { role, wish } = found.person
  throw new Failed(
    'columns',
    `What "columns.${role}" names ${wish}, and for this person it is not.`,
  )
}

function requireHash(found: Found | undefined) {
  if (found === undefined || found.hash !== undefined) return
  const problem = found.hasHash
    ? `is of a kind that cannot be checked here, or costs too much. Use ${KNOWN_KINDS}`
    : 'is empty for this person'
  throw new Failed('columns', `What "columns.password_hash" names ${problem}.`)
}
