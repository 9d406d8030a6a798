enum Usage {
    static let text = """
        Usage: model-reset COMMAND [ARGUMENT]...
               model-reset COMMAND --help
               model-reset --version

        A store is made for one model and one database key, and is reset when either changes. This tool says when. It
        treats the old store as the default reset policy, .standard, does: another model sets it aside as a backup beside the
        store, another key drops it together with that backup. A store on a server is never reset by default. The command reset
        does it; with --if-needed, it sets the old store aside in another schema of the database.

          hash      prints the hash of the model's persisted shape
          diff      lists what differs between two models, and what a migration would keep and lose
          status    says what the next start of an app would do with a store, and why, and who has it open; changes nothing
          inspect   shows a store that may be open elsewhere, and changes nothing
          reset     replaces a store with an empty one; no process may have it open
          restore   replaces a store with a copy of a backup
          check     compares models with the committed lock file, and explains changes as diff does
          diagram   draws the entities of a model, as SVG
          init      writes a first model, NAME.xcdatamodeld, with one entity and four attributes; overwrites nothing

          --help     after a command: prints its arguments and options
          --version  prints the version of model-reset; after a command, it is the version of the model
          --json     prints the answer as JSON, on one line

        Stores on servers, as in --store postgresql://USER@HOST/DATABASE, need a program that was built with --traits PostgreSQL.

        Exit status: 0 success, 1 something differs, or would be reset or restored, 2 the arguments are invalid or a file cannot be
        written, 3 a model or the lock file cannot be read, 4 the store cannot be opened.

        """
}
