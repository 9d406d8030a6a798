internal import RowStore

/// Relationships of an object, by their indexes among those of its entity: inherited ones first, each entity's in the order of
/// the model. For generated code, and for classes that are written by hand.
extension ManagedObject {
    /// The object that a to-one relationship leads to; nil for none.
    ///
    /// Also nil if the related object is gone, as after a deletion with the rule No Action, and if the owner has no context any
    /// more. If a link cannot be read, the result is nil too, and the save or the read then throws; on main,
    /// ``PersistentContainer/failures`` reports it.
    ///
    /// **Isolation**: that of the object's context.
    ///
    /// - Complexity: The first time one query for up to 1,000 objects that were fetched together; then constant.
    public final func relatedObject<Object: ManagedObject>(at index: Int) -> Object? {
        if let found = home.registeredDestination(of: self, at: index) {
            if type(of: found) == Object.self { return unsafeDowncast(found, to: Object.self) }
            if let found = found as? Object { return found }
        }
        // The context may yet learn which class the entity has.
        return following { context in
            try context.adopt(Object.self, relationship(at: index, isToMany: false))
            return try context.destination(of: self, at: index)
        } as? Object
    }

    /// Sets the object of a to-one relationship. The other side changes at once.
    ///
    /// The link is stored in the row of one side. If another data source owns that row, the save throws `entityNotOwned`.
    public final func setRelatedObject<Object: ManagedObject>(_ object: Object?, at index: Int) {
        _ = relationship(at: index, isToMany: false)
        linking(index)?.set(object)
    }

    /// The objects that a to-many relationship leads to.
    public final func relatedObjects<Object: ManagedObject>(at index: Int) -> RelatedObjects<Object> {
        _ = relationship(at: index, isToMany: true)
        return RelatedObjects(self, index)
    }

    /// The objects that an ordered to-many relationship leads to, in its order.
    public final func relatedList<Object: ManagedObject>(at index: Int) -> [Object] {
        following { context in
            let relationship = relationship(at: index, isToMany: true)
            try context.adopt(Object.self, relationship)
            return context.typed(try context.relatedObjects(of: self, at: index), relationship)
        } ?? []
    }

    /// Sets the objects of an ordered to-many relationship, and their order. An object that comes twice has its first place.
    public final func setRelatedList<Object: ManagedObject>(_ objects: [Object], at index: Int) {
        _ = relationship(at: index, isToMany: true)
        linking(index)?.set(objects)
    }

    /// Reads through the context; nil if there is none, and if reading fails.
    final func following<R>(_ body: (ManagedObjectContext) throws -> R?) -> R? {
        guard let context else {
            hasFollowed = true
            return nil
        }
        do {
            return try body(context)
        } catch {
            context.noteReadFailure(error)
            return nil
        }
    }

    /// The editor of the links of a relationship; nil if there is no context.
    final func linking(_ index: Int) -> LinkEditor? {
        let name = layout.relationships[index].name
        precondition(
            editing != .not,
            "\(layout.name).\(name) was set on an object of a read-only context. Edit the object in a hook or in perform { } of its data source."
        )
        if editing == .inDraft { draft.checkInBatch() }
        if isDeleted {
            context?.refuse(
                DataSourceError(
                    .objectGone,
                    "\(layout.name).\(name) was set on a deleted object. Insert a new object.",
                    entityName: layout.name, attributeName: name))
            return nil
        }
        hasFollowed = hasFollowed || context == nil
        return (context as? EditingContext).map { LinkEditor($0, self, index) }
    }
}
