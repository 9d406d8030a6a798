package import ManagedModel

/// A configuration of a locked model. A store can be made for it alone, so it has a hash of its own.
package struct LockedConfiguration: Sendable, Equatable {
    package let name: String
    package let hash: ModelHash
    /// In the order of the model.
    package let entityNames: [String]

    /// Nil for a configuration that no store can be made for, because it leaves out what its entities need.
    init?(_ configuration: ModelConfiguration, of model: ManagedObjectModel) {
        do { hash = try model.restricted(toConfiguration: configuration.name).hash } catch { return nil }
        name = configuration.name
        entityNames = configuration.entityNames
    }

    static func isLine(_ line: some StringProtocol) -> Bool { line.hasPrefix("configuration ") }

    /// Reads ``line`` back; nil if this type would not write it.
    init?(_ line: String) {
        guard var words = TextWords(line), words.take("configuration"), let name = words.takeName(), words.take("hash"),
            let hash = words.takeWord().flatMap({ ModelHash($0) }), words.take("entities")
        else { return nil }
        self.name = name
        self.hash = hash
        entityNames = words.takeNames()
        guard words.isAtEnd else { return nil }
    }

    var line: String {
        "configuration \(name.quotedWord) hash \(hash) entities" + entityNames.map { " " + $0.quotedWord }.joined()
    }
}
