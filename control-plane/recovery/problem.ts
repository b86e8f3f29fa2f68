/** One line for the person at the terminal: what is in the way, and what to do. */
export class RecoveryProblem extends Error {
  override readonly name = 'RecoveryProblem'
}
