enum Usage {
    static let text = """
        Usage: model-reset hash MODEL [--version NAME] [--configuration NAME]
               model-reset diff OLD NEW [--configuration NAME]
               model-reset diff BUNDLE OLD-VERSION NEW-VERSION [--configuration NAME]
               model-reset status MODEL --store STORE [--database-key KEY] [--version NAME] [--configuration NAME]
               model-reset inspect STORE [--model MODEL]... [--follow]
               model-reset reset MODEL --store STORE [--database-key KEY] [--version NAME] [--configuration NAME]
                           [--if-needed] [--dry-run] [--backup FOLDER]
               model-reset restore BACKUP STORE [--force] [--dry-run]
               model-reset check [MODEL]... [--lock FILE] [--update]
               model-reset check [MODEL]... [--lock FILE] --against FILE
               model-reset check MODEL --version NAME [--lock FILE]
               model-reset diagram MODEL [--version NAME] [--configuration NAME] [--output FILE]
               model-reset init [NAME] [--entity ENTITY]
               model-reset --version

        A store is made for one model and one database key, and is reset when either changes. This tool says when. It
        treats the old store as the default reset policy, .standard, does: another model sets it aside as a backup beside the
        store, another key drops it together with that backup. A store on a server is never reset by default. The command reset
        does it; with --if-needed, it sets the old store aside in another schema of the database.

          hash      prints the hash of the model's persisted shape
          diff      lists what differs between two models, and what a migration would keep and lose
          status    says what the next start of an app would do with a store, and why, and who has it open; changes nothing
          inspect   shows a store that may be open elsewhere, and changes nothing: its entities and objects, who shares it, who
                    may write which entities and who waits, and the newest saves, with each changed value before and after.
                    Why a list changed is known only in the process that shows it: print its lastUpdateReason there
          reset     replaces a store with an empty one; no process may have it open
          restore   replaces a store with a copy of a backup
          check     compares models with the committed lock file, and explains changes as diff does; without MODEL, all models
                    that are in the lock file, in its folder or below it
          diagram   draws the entities of a model, as SVG
          init      writes a first model, NAME.xcdatamodeld, with one entity and four attributes; overwrites nothing

          MODEL               a .xcdatamodeld bundle, or the .xcdatamodel of one version
          --version NAME      the version of the model; without it, the current one
          --configuration NAME  the configuration of the model, for a store that has only its entities; without it, the one
                              that the store was made for, or the whole model. An empty name is the whole model. check
                              compares every configuration
          STORE               a file, or the address of a database, postgresql://USER@HOST/DATABASE, with --name;
                              addresses need a program that was built with --traits PostgreSQL
          --store STORE       the store
          --name NAME         the name of the store in the database
          --database-key KEY  the app's label for the contents, as it gives it to its container; without it, that of the store
          --model MODEL       a model for inspect to decode saves with, beside the store's own copy: an app whose
                              model has the attributes in another order needs its own
          --follow            continues with each new save until it is ended; with --json each save is a line
          --if-needed         resets only if the next start would, and in the same way
          --dry-run           prints what would be done, and changes nothing; exits with 1 if the store would be reset or
                              restored
          --backup FOLDER     moves the old store (a file) there; the folder must be on the same file system
          --force             replaces an existing store
          --lock FILE         the lock file (default: Models/model.lock)
          --against FILE      compares with that lock file instead, such as the one of the base branch or of the last release,
                              wherever it lies; its paths are read as relative to the folder of --lock
          --update            writes the lock file, and makes its folder
          NAME                the bundle to write, with or without its extension (default: Model); its folder is made
          --entity ENTITY     the name of the entity (default: ItemEntity)
          --output FILE       the file for the drawing (default: standard output)
          --json              prints the answer as JSON, on one line
          --help              prints this text
          --version           without a command: prints the version of model-reset

        Exit status: 0 success, 1 something differs, or would be reset or restored, 2 the arguments are invalid or a file cannot be
        written, 3 a model or the lock file cannot be read, 4 the store cannot be opened.

        """
}
