internal import ManagedModel

/// How the entities of a model are divided among files.
struct Division {
    /// At least one.
    let parts: Int

    /// The file of an entity. Those with composites are in the first one, with what reads and writes these.
    func part(of plan: EntityPlan) -> Int {
        if parts < 2 || plan.list.properties.contains(where: { $0.type.accessor == .composite }) { return 0 }
        // FNV-1a, which is the same on every machine.
        let hash = plan.entity.name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return 1 + Int(hash % UInt32(parts - 1))
    }
}

/// Writes one file of a model.
struct FileText {
    let model: ManagedObjectModel
    let plan: ModelPlan
    let access: AccessLevel
    let division: Division
    let part: Int

    var text: String {
        var text = SourceText()
        let name = SourceText.comment(model.name)
        text.line("// Made by model-codegen from the model \(name). Change the model, not this file.")
        text.line("// swift-format-ignore-file")
        if part > 0, entities.isEmpty { return text.text }
        text.line()
        ImportText(plan: plan, entities: entities, isWhole: part == 0, access: access).write(to: &text)
        for entity in entities {
            text.line()
            EntityText(plan: entity, access: access).write(to: &text)
        }
        for entity in entities {
            guard let name = entity.className, entity.generation != .manual,
                let requests = plan.fetchRequests[entity.entity.name]
            else { continue }
            text.line()
            FetchRequestText(className: name, plans: requests, access: access).write(to: &text)
        }
        let literal = ModelLiteral(model: model, plan: plan, access: access)
        let names = Set(entities.map(\.entity.name))
        if part == 0 {
            for composite in plan.composites {
                text.line()
                CompositeText(plan: composite, access: access).write(to: &text)
            }
            text.line()
            literal.write(to: &text)
        }
        text.line()
        literal.writeEntities(named: names, isDivided: division.parts > 1, isFirst: part == 0, to: &text)
        return text.text
    }

    private var entities: [EntityPlan] { plan.entities.filter { division.part(of: $0) == part } }
}
