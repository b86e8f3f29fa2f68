// long: builds and starts servers in Ruby
import { execFileSync } from 'node:child_process'
import { RUBY } from '../../../shared/integration/snippets/ruby.ts'
import { keepsItsPromises } from './promises.ts'

const INTERPRETER = '/usr/bin/ruby'
const SERVER = '/usr/bin/puma'

function missing(): string | false {
  try {
    const wanted = ['-rjwt', '-rpuma', '-raction_controller/railtie']
    execFileSync(INTERPRETER, [...wanted, '-e', ''], { stdio: 'ignore' })
    return false
  } catch {
    return 'Ruby, its jwt, puma or Rails is not installed here'
  }
}

/** Rails itself, without what a page that greets has no need of. */
const RAILS_PROJECT = `require 'action_controller/railtie'

class Application < Rails::Application
  config.root = __dir__
  config.eager_load = true
  config.secret_key_base = 'of the test'
  config.logger = Logger.new($stderr)
  config.log_level = :info
end

class PagesController < ActionController::Base
  def home
    render plain: "Hello #{service_user['name']}\\n"
  end
end

Application.initialize!
Application.routes.draw { root to: 'pages#home' }
run Application
`

keepsItsPromises(RUBY['rails'], {
  missing: missing(),
  files: { 'config.ru': RAILS_PROJECT },
  start: (port) => [SERVER, '--bind', `tcp://127.0.0.1:${port}`, '--environment', 'production'],
})
