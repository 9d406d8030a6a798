enum Usage {
    static let text = """
        Usage: model-reset COMMAND [ARGUMENT]...
               model-reset COMMAND --help
               model-reset --version

        A store is made for one model and one database key, and is reset when either of them changes. This tool predicts resets.
        Its commands follow the default reset policy, .standard: if the model changes, the old store is kept as a backup beside
        the new store; if the key changes, the old store and its backup are deleted.

        By default, an app never resets a store on a server. To reset such a store, use model-reset reset. With --if-needed and
        a changed model, this command keeps the old store in another schema of the database; otherwise it deletes the old store.

          hash      prints the hash of the model's persisted shape
          diff      lists the differences between two models, and shows what a migration would keep and lose
          status    shows what the next start of an app would do with a store, and which processes have it open; changes nothing
          inspect   shows a store, even while other processes have it open; changes nothing
          reset     replaces a store with an empty store; no process may have the store open
          restore   replaces a store with a copy of a backup
          check     compares models with the committed lock file, and explains changes as diff does
          lock      records models in the lock file, as check --update does
          diagram   draws the entities of a model, as SVG
          convert   writes a bundle as Swift, or Swift as a bundle, with the same hash; overwrites nothing
          init      writes a first model in Swift, with one entity and four attributes; overwrites nothing

          --help     after a command: prints its arguments and options
          --version  prints the version of model-reset; after a command, --version NAME selects a version of the model
          --json     prints the answer as JSON, on one line

        Stores on servers, as in --store postgresql://USER@HOST/DATABASE, need a program that was built with --traits PostgreSQL.

        Exit status: 0 success; 1 models differ, or a store would be reset or restored; 2 the arguments are invalid or a file cannot
        be written; 3 a model or the lock file cannot be read; 4 the store cannot be opened.

        """
}
