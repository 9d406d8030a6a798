internal import CommandLineWords
internal import ManagedModel

/// Prints the hash of a model. The JSON output also contains the hash of each entity, and the number of elements of each kind.
struct HashCommand: Command {
    static let usage = """
        Usage: model-reset hash MODEL [--version NAME] [--configuration NAME] [--json]

        Prints the hash of the model's persisted shape. A store that was made for another hash does not fit the model.

          MODEL                 a .xcdatamodeld bundle, the .xcdatamodel of one version, or a folder or files of Swift
          --version NAME        the version of the model; without it, the current version
          --configuration NAME  the configuration of the model; without it, the whole model
          --json                prints the answer as JSON, on one line, with the hash of each entity and the numbers of elements

        """

    let model: ModelArgument

    init(_ words: ArraySlice<String>) throws {
        model = try ModelArgument(CommandLineWords(command: words, values: ModelArgument.valueNames))
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let model = try model.read(&warnings, followsVersions: false)
        let hash = model.hash.description
        let head: [(String, JSON)] = [
            ("model", .string(model.name)), ("version", .string(model.version)), ("hash", .string(hash)),
        ]
        let hashes = model.entityHashes
        let entities = model.entities.map { entity in
            JSON.object(
                [("name", .string(entity.name)), ("hash", .string(hashes[entity.name]?.description))]
                    + model.counts(of: entity).map { ($0, .number($1)) })
        }
        return Report(
            ["\(hash)  \(model.name), version \(model.version)"],
            .object(head + model.counts.map { ($0, .number($1)) } + [("entities", .list(entities))]))
    }
}

extension ManagedObjectModel {
    /// The number of elements of each kind in the whole model.
    fileprivate var counts: [(String, Int)] {
        var totals: [String: Int] = [:]
        for entity in entities { totals.merge(counts(of: entity).map { ($0, $1) }, uniquingKeysWith: +) }
        totals["fetchRequests"] = fetchRequests.count
        totals["configurations"] = configurations.count
        totals["composite"] = composites.count
        let names = [
            "attributes", "relationships", "fetchedProperties", "fetchRequests", "configurations", "fetchIndexes",
            "compoundIndexes", "uniquenessConstraints", "derived", "composite",
        ]
        return names.map { ($0, totals[$0] ?? 0) }
    }

    /// The number of elements of each kind in an entity. `composite` counts the attributes that have a composite type.
    fileprivate func counts(of entity: EntityDescription) -> [(String, Int)] {
        [
            ("attributes", entity.attributes.count),
            ("relationships", entity.relationships.count),
            ("fetchedProperties", entity.fetchedProperties.count),
            ("fetchRequests", fetchRequests.count { $0.entityName == entity.name }),
            ("fetchIndexes", entity.indexes.count { !$0.isCompound }),
            ("compoundIndexes", entity.indexes.count(where: \.isCompound)),
            ("uniquenessConstraints", entity.uniquenessConstraints.count),
            ("derived", entity.attributes.count { $0.derivationExpression != nil }),
            ("composite", entity.attributes.count { $0.type == .composite }),
        ]
    }
}
