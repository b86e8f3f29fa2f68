export interface Snippet {
  /** What to run once, in the project's folder; `{base_url}` is where the service is. */
  readonly install: string
  readonly file: string
  readonly code: string
}

export interface FrameworkSnippet {
  readonly name: string
  readonly language: string
  /** The ways of enforcement that the code below serves. */
  readonly modes: readonly ('gateway' | 'connector' | 'sdk')[]
  /** Behind the edge: believes the signature that came with the request. */
  readonly edge: Snippet
  /** Without an edge: enforces by itself. */
  readonly sdk?: Snippet
}
