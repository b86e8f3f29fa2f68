/** What detection finds: the applications of a project, and how sure it is of what it says. */

/** In the contract's words: the keys of its `frameworks`. */
export type FrameworkName =
  | 'next'
  | 'nest'
  | 'fastify'
  | 'koa'
  | 'hono'
  | 'express'
  | 'node'
  | 'django'
  | 'flask'
  | 'fastapi'
  | 'rails'
  | 'laravel'
  | 'spring'
  | 'aspnet'
  | 'go'

/** sure: the code says so itself; likely: by custom; guess: look before you believe it. */
export type Confidence = 'sure' | 'likely' | 'guess'

/** `line` counts from 1. */
export interface Place {
  readonly path: string
  readonly line: number
}

type FindingSubject =
  | 'framework'
  | 'language'
  | 'package_manager'
  | 'entry'
  | 'mount'
  | 'routes'
  | 'websockets'
  | 'sign_in'
  | 'integration'
  | 'health'
  | 'port'
  | 'workspace'

/** One thing that was found, where, and how surely. */
export interface Finding {
  readonly about: FindingSubject
  /** `express`, `npm`, `passport`, `/healthz`, `3000` … */
  readonly value: string
  readonly at: Place | null
  readonly confidence: Confidence
  /** One sentence for a person. */
  readonly detail: string
}

export interface Application {
  /** Relative to the project's root; '' is the root itself. */
  readonly folder: string
  readonly framework: FrameworkName
  /** Of the framework, as the project names it: `^4.18.2`; of Go the router: `chi`. */
  readonly variant: string | null
  readonly language: string
  /** npm, yarn, pnpm, bun; pip, poetry, uv, pipenv; bundler; composer; maven, gradle; dotnet; go. */
  readonly packageManager: string | null
  /** JavaScript only. */
  readonly modules: 'esm' | 'commonjs' | null
  /** The file that a start runs. */
  readonly entry: Place | null
  /**
   * Where the framework's application is made: the middleware goes right behind it. It may lie in
   * another package of a workspace, which is then the one to depend on the middleware.
   */
  readonly mount: Place | null
  readonly healthPath: string | null
  readonly port: number | null
  /** Sign-in code that is there already: `passport`, `next-auth`, `devise` … */
  readonly signIn: readonly string[]
  /** Where it imports our middleware: it has been integrated, by hand or by us. */
  readonly integrated: Place | null
  /** How sure it is that this is an application of this framework, and all places are right. */
  readonly confidence: Confidence
  readonly findings: readonly Finding[]
}

export interface Detection {
  readonly applications: readonly Application[]
  /** What a person should know beside: a walk that was cut, a manifest that cannot be read. */
  readonly remarks: readonly string[]
}
