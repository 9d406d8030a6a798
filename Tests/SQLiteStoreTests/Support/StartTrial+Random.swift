import ManagedModel
import ModelMigration
import RowStore
import StoreTestModel
import TestSupport

extension StartTrial {
    private static let migrating: [ResetPolicy] = [
        .migrate, .migrate(otherwise: .standard), .migrate(otherwise: .backup(keep: 1)),
        .migrate(otherwise: .changedEntities), .migrate(otherwise: .fail),
    ]
    private static let others: [ResetPolicy] = [.standard, .discard, .backup(keep: 1), .changedEntities, .fail]

    /// Chooses the keys, and the policy if none is given.
    ///
    /// - Parameter versions: The versions that the bundle has before the new one.
    init(
        from old: ModelDraft, to new: ModelDraft, after versions: [ModelDraft] = [], using random: inout SeededRandom,
        policy: ResetPolicy? = nil, _ moment: String
    ) {
        func isChosen(_ chances: Int) -> Bool { Int.random(in: 0..<chances, using: &random) == 0 }
        let chosen = policy ?? (isChosen(2) ? StartTrial.others : StartTrial.migrating).randomElement(using: &random)
        var oldKeys: [Int: String] = [:]
        for entity in old.entities where isChosen(3) { oldKeys[entity.tag] = "1" }
        var givenKeys: [Int: String] = [:]
        if isChosen(2) {
            for entity in new.entities where isChosen(3) {
                givenKeys[entity.tag] = isChosen(2) ? "2" : oldKeys[entity.tag] ?? "1"
            }
        }
        let databaseKey = isChosen(16) ? "2" : "1"
        var newModel = new.model
        var isBroken = false
        if isChosen(8), let place = StartTrial.breakable(old, new, keyed: givenKeys).randomElement(using: &random) {
            for entity in newModel.entities.indices where newModel.entities[entity].name == place.entity {
                for index in newModel.entities[entity].attributes.indices
                where newModel.entities[entity].attributes[index].name == place.attribute {
                    newModel.entities[entity].attributes[index].type = .binary
                    newModel.entities[entity].attributes[index].defaultValue = nil
                    isBroken = true
                }
            }
        }
        newModel.follow(versions.map(\.model))
        let oldModel = old.model
        self.init(
            old: old, new: new, oldModel: oldModel, newModel: newModel, isModelChanged: oldModel.hash != newModel.hash,
            policy: chosen ?? .standard, oldKeys: oldKeys,
            givenKeys: givenKeys, databaseKey: databaseKey, isBroken: isBroken, hasBackups: isChosen(2),
            moment: "\(moment), \(chosen ?? .standard)")
    }

    /// Attributes whose values could not be carried over if they got another type.
    private static func breakable(
        _ old: ModelDraft, _ new: ModelDraft, keyed: [Int: String]
    ) -> [(entity: String, attribute: String)] {
        let sources = Set(new.entities.flatMap(\.attributes).compactMap(\.source))
        var places: [(entity: String, attribute: String)] = []
        for entity in new.entities where keyed[entity.tag] == nil {
            guard let before = old.entity(entity.tag) else { continue }
            let known = Set(old.lineage(before).flatMap(\.attributes).map(\.tag))
            for attribute in entity.attributes where attribute.source == nil {
                guard known.contains(attribute.tag), !sources.contains(attribute.tag) else { continue }
                places.append((entity.name, attribute.name))
            }
        }
        return places
    }
}

extension ModelDraft {
    /// Whether nobody can understand the names since the version before in another way.
    func isClear(after old: ModelDraft) -> Bool {
        !hasSharedIdentifier
            && !MigrationPlan(from: old.model, to: model).obstacles.contains { $0.contains("identifier") }
    }
}
