// Sets, unsets and deletes both ends of relationships, in a batch, on main and after a restart. A test generates what says which
// ones, compiles it with this, runs it and reads what it prints.
import CoreDataSource
import Foundation

/// One side of a relationship, by the property that was generated for it.
enum Side<Source: ManagedObject, End: ManagedObject>: Sendable {
    case toOne(any ReferenceWritableKeyPath<Source, End?> & Sendable)
    case toMany(any KeyPath<Source, RelatedObjects<End>> & Sendable)
    case ordered(any ReferenceWritableKeyPath<Source, [End]> & Sendable)

    func link(_ one: Source, _ other: End) {
        switch self {
        case .toOne(let path): one[keyPath: path] = other
        case .toMany(let path): one[keyPath: path].insert(other)
        case .ordered(let path): one[keyPath: path].append(other)
        }
    }

    func unlink(_ one: Source, _ other: End) {
        switch self {
        case .toOne(let path): one[keyPath: path] = nil
        case .toMany(let path): one[keyPath: path].remove(other)
        case .ordered(let path): one[keyPath: path].removeAll { $0 === other }
        }
    }

    /// The objects that it leads to.
    func ends(_ one: Source) -> [End] {
        switch self {
        case .toOne(let path): one[keyPath: path].map { [$0] } ?? []
        case .toMany(let path): Array(one[keyPath: path])
        case .ordered(let path): one[keyPath: path]
        }
    }
}

/// What is wrong.
struct Wrong: Error {
    let what: String

    init(_ what: String) {
        self.what = what
    }
}

/// One relationship, and two objects for it.
struct Exercise: Sendable {
    /// The keys of two objects, which are theirs after a restart too.
    struct Pair: Sendable {
        let one: Int64
        let other: Int64
    }

    enum Step: Sendable {
        case link
        case unlink
        case linkBack
        case unlinkBack
    }

    let name: String
    /// Whether a store has the links.
    let isStored: Bool
    /// What happens to the second object when the first one is deleted.
    let rule: DeleteRule
    /// What happens to the first object when the second one is deleted; nil without an inverse.
    let inverseRule: DeleteRule?
    let make: @Sendable (PrivateContext) throws -> Pair
    let edit: @Sendable (PrivateContext, Pair, Step) throws -> Void
    let delete: @Sendable (PrivateContext, Pair, _ isFirst: Bool) throws -> Void
    /// Throws unless both sides say that the objects are linked, or that they are not.
    let check: @Sendable (ManagedObjectContext, Pair, _ isLinked: Bool) throws -> Void
    /// Which of the objects are there, and how many objects each of those leads to.
    let count: @Sendable (ManagedObjectContext, Pair) throws -> (one: Int?, other: Int?)

    init<Source: ManagedObject, End: ManagedObject>(
        _ name: String, _ side: Side<Source, End>, inverse: Side<End, Source>?, isStored: Bool, rule: DeleteRule,
        inverseRule: DeleteRule?, make: @escaping @Sendable (PrivateContext) throws -> (Source, End)
    ) {
        (self.name, self.isStored, self.rule, self.inverseRule) = (name, isStored, rule, inverseRule)
        self.make = { context in
            let (one, other) = try make(context)
            return Pair(one: one.objectID.key, other: other.objectID.key)
        }
        edit = { context, pair, step in
            guard let one = try context.find(Source.self, pair.one),
                let other = try context.find(End.self, pair.other)
            else { throw Wrong("an object is missing") }
            switch step {
            case .link: side.link(one, other)
            case .unlink: side.unlink(one, other)
            case .linkBack: if let inverse { inverse.link(other, one) } else { side.link(one, other) }
            case .unlinkBack: if let inverse { inverse.unlink(other, one) } else { side.unlink(one, other) }
            }
        }
        delete = { context, pair, isFirst in
            if isFirst {
                if let one = try context.find(Source.self, pair.one) { context.delete(one) }
            } else if let other = try context.find(End.self, pair.other) {
                context.delete(other)
            }
        }
        check = { context, pair, isLinked in
            guard let one = try context.find(Source.self, pair.one),
                let other = try context.find(End.self, pair.other)
            else { throw Wrong("an object is missing") }
            let ends = side.ends(one).map(\.objectID.key)
            let back = inverse?.ends(other).map(\.objectID.key)
            guard ends == (isLinked ? [pair.other] : []) else { throw Wrong("it leads to \(ends)") }
            guard back == nil || back == (isLinked ? [pair.one] : []) else {
                throw Wrong("its inverse leads to \(back ?? [])")
            }
        }
        count = { context, pair in
            (
                try context.find(Source.self, pair.one).map { side.ends($0).count },
                try context.find(End.self, pair.other).map { inverse?.ends($0).count ?? 0 }
            )
        }
    }
}

/// Goes through all relationships of a model at once.
@MainActor final class Exercises<Source: EntityDataSource> {
    private let exercises: [Exercise]
    private let model: ManagedObjectModel
    private let url: URL
    private var container: PersistentContainer
    private var source: Source
    private var pairs: [[Exercise.Pair]] = []
    private(set) var problems: [String] = []

    init(_ exercises: [Exercise], of model: ManagedObjectModel) async throws {
        self.exercises = exercises
        self.model = model.relaxed
        url = FileManager.default.temporaryDirectory.appending(component: "exercises-\(UUID().uuidString).sqlite")
        container = try await PersistentContainer(model: self.model, store: .sqlite(url))
        source = try container.dataSource(Source.self)
    }

    func run() async throws {
        let exercises = exercises
        pairs = try await source.perform { context in
            try exercises.map { exercise in [try exercise.make(context), try exercise.make(context)] }
        }
        let steps: [(Exercise.Step, Bool)] = [
            (.link, true), (.unlinkBack, false), (.linkBack, true), (.unlink, false), (.link, true),
        ]
        for (step, isLinked) in steps {
            try await edit(step, isLinked)
            try check("on main after \(step)", container.main, isLinked)
            try await reopen()
            try check("after \(step) and a restart", container.main, isLinked)
        }
        for index in exercises.indices where exercises[index].isStored {
            await delete(index, isFirst: true)
            await delete(index, isFirst: false)
        }
        try await container.close()
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }

    private func reopen() async throws {
        try await container.close()
        container = try await PersistentContainer(model: model, store: .sqlite(url))
        source = try container.dataSource(Source.self)
    }

    private func edit(_ step: Exercise.Step, _ isLinked: Bool) async throws {
        let (exercises, pairs) = (exercises, pairs)
        problems += try await source.perform { context in
            var problems: [String] = []
            for (exercise, pairs) in zip(exercises, pairs) {
                for pair in pairs {
                    do {
                        try exercise.edit(context, pair, step)
                        try exercise.check(context, pair, isLinked)
                    } catch let error as Wrong {
                        problems.append("\(exercise.name), \(step): \(error.what)")
                    }
                }
            }
            return problems
        }
    }

    private func check(_ place: String, _ context: ManagedObjectContext, _ isLinked: Bool) throws {
        for (exercise, pairs) in zip(exercises, pairs) where exercise.isStored {
            for pair in pairs {
                do {
                    try exercise.check(context, pair, isLinked)
                } catch let error as Wrong {
                    problems.append("\(exercise.name), \(place): \(error.what)")
                }
            }
        }
    }

    /// Deletes one end of a link and looks at the other.
    private func delete(_ index: Int, isFirst: Bool) async {
        let exercise = exercises[index]
        let pair = pairs[index][isFirst ? 0 : 1]
        var denied = false
        do {
            try await source.perform { try exercise.delete($0, pair, isFirst) }
        } catch let error as DataSourceError where error.code == .deletionDenied {
            denied = true
        } catch {
            return problems.append("\(exercise.name), a deletion: \(error)")
        }
        let rule = isFirst ? exercise.rule : exercise.inverseRule ?? .nullify
        do {
            let (one, other) = try exercise.count(container.main, pair)
            let (deleted, left) = isFirst ? (one, other) : (other, one)
            let isRight =
                switch rule {
                case .deny: denied && deleted != nil && left == (isFirst && exercise.inverseRule == nil ? 0 : 1)
                case .cascade: !denied && deleted == nil && left == nil
                case .nullify, .noAction: !denied && deleted == nil && left == 0
                }
            if !isRight {
                problems.append(
                    "\(exercise.name), \(isFirst ? "source" : "destination") deleted with \(rule.rawValue): \(denied ? "denied" : "not denied"), left \(deleted.map(String.init) ?? "-") and \(left.map(String.init) ?? "-")"
                )
            }
        } catch {
            problems.append("\(exercise.name), after a deletion: \(error)")
        }
    }
}

extension ManagedObjectModel {
    /// The model without what is demanded of values, so that objects can be made of any entity.
    fileprivate var relaxed: ManagedObjectModel {
        var model = self
        for entity in model.entities.indices {
            model.entities[entity].uniquenessConstraints = []
            for attribute in model.entities[entity].attributes.indices {
                model.entities[entity].attributes[attribute].isOptional = true
                model.entities[entity].attributes[attribute].minimum = nil
                model.entities[entity].attributes[attribute].maximum = nil
                model.entities[entity].attributes[attribute].pattern = nil
            }
            for relationship in model.entities[entity].relationships.indices {
                model.entities[entity].relationships[relationship].isOptional = true
                model.entities[entity].relationships[relationship].minimumCount = 0
            }
        }
        return model
    }
}

extension ManagedObjectContext {
    fileprivate func find<Object: ManagedObject>(_ type: Object.Type, _ key: Int64) throws -> Object? {
        try fetch(type).first { $0.objectID.key == key }
    }
}
