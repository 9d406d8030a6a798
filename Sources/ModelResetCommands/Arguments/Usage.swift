enum Usage {
    static let text = """
        Usage: model-reset hash MODEL [--version NAME]
               model-reset diff OLD NEW
               model-reset diff BUNDLE OLD-VERSION NEW-VERSION
               model-reset status MODEL --store FILE --database-key KEY [--version NAME]
               model-reset reset MODEL --store FILE --database-key KEY [--version NAME]
                           [--if-needed] [--dry-run] [--backup FOLDER]
               model-reset restore BACKUP STORE [--force] [--dry-run]
               model-reset check MODEL... [--lock FILE] [--update]
               model-reset diagram MODEL [--version NAME] [--output FILE]
               model-reset init [NAME] [--entity ENTITY]
               model-reset --version

        A store is made for one model and one database key, and is reset when either changes. This tool says when. It assumes the
        default reset policy, .standard: another model sets the old store aside as a backup beside the new one; another key drops
        it together with that backup.

          hash      prints the hash of the model's persisted shape
          diff      lists what differs between two models, and what a migration would keep and lose
          status    says what the next start of an app would do with a store, and why; changes nothing
          reset     replaces a store with an empty one
          restore   replaces a store with a copy of a backup
          check     compares models with their committed lock file, and explains changes as diff does
          diagram   draws the entities of a model, as SVG
          init      writes a first model, NAME.xcdatamodeld, with one entity and four attributes; overwrites nothing

          MODEL               a .xcdatamodeld bundle, or the .xcdatamodel of one version
          --version NAME      the version of the model; without it, the current one
          --store FILE        the store; a store that an app has open is left alone
          --database-key KEY  the app's label for the contents, as it gives it to its container
          --if-needed         resets only if the next start would, and in the same way
          --dry-run           says what would be done, and does nothing; exits with 1 if the store would be reset or
                              restored
          --backup FOLDER     moves the old store there; FOLDER must be on the same file system
          --force             replaces the store that is there
          --lock FILE         the lock file (default: Models/model.lock)
          --update            writes the lock file, and makes its folder
          NAME                the bundle to write, with or without its extension (default: Model); its folder is made
          --entity ENTITY     the name of the entity (default: ItemEntity)
          --output FILE       where the drawing goes (default: standard output)
          --json              prints the answer as JSON, on one line
          --help              prints this text
          --version           without a command: prints the version of model-reset

        Exit status: 0 all is well, 1 something differs, or would be reset or restored, 2 the arguments are wrong or a file cannot be
        written, 3 a model or the lock file cannot be read, 4 the store cannot be opened.

        """
}
